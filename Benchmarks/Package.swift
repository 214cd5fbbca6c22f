// swift-tools-version: 6.2
import PackageDescription

/// The same settings as in ../Package.swift.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "ErrandBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Errand", path: "..")],
  targets: [
    // libcurl called from C: the lower limit to which the others are compared.
    .executableTarget(name: "bench-curl", linkerSettings: [.linkedLibrary("curl")]),
    // Runs a command and prints the resources that it used.
    .executableTarget(name: "bench-command"),
    // The choice of a program on Linux without Errand.
    .executableTarget(name: "bench-urlsession", dependencies: ["BenchHarness"], swiftSettings: strict),
    .executableTarget(
      name: "bench-errand",
      dependencies: [
        "BenchHarness", "CBareSQLite", .product(name: "Errand", package: "Errand"),
        .product(name: "ErrandOutbox", package: "Errand"),
      ],
      swiftSettings: strict
    ),
    // JSON: this library and Foundation, without other dependencies.
    .executableTarget(
      name: "bench-json",
      dependencies: ["BenchHarness", .product(name: "Errand", package: "Errand")],
      swiftSettings: strict
    ),
    // How Errand, the command curl and URLSession handle the faults of a server.
    .executableTarget(
      name: "fault-table",
      dependencies: [.product(name: "Errand", package: "Errand"), .product(name: "ErrandTesting", package: "Errand")],
      swiftSettings: strict
    ),
    // SQLite without a wrapper.
    .systemLibrary(name: "CBareSQLite", pkgConfig: "sqlite3"),
    // The clock, the loops and the line that a child process prints.
    .target(name: "BenchHarness", swiftSettings: strict),
  ]
)
