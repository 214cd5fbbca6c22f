// swift-tools-version: 6.2
import PackageDescription

/// The rules of the package itself, see ../Package.swift.
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
    // libcurl called from C: the limit that the others are measured against.
    .executableTarget(name: "bench-curl", linkerSettings: [.linkedLibrary("curl")]),
    // Runs a command and says what it took.
    .executableTarget(name: "bench-command"),
    // What a program on Linux gets without Errand.
    .executableTarget(name: "bench-urlsession", dependencies: ["BenchHarness"], swiftSettings: strict),
    .executableTarget(
      name: "bench-errand",
      dependencies: ["BenchHarness", "CBareSQLite", .product(name: "Errand", package: "Errand")],
      swiftSettings: strict
    ),
    // JSON: this library, Foundation and nothing else.
    .executableTarget(
      name: "bench-json",
      dependencies: ["BenchHarness", .product(name: "Errand", package: "Errand")],
      swiftSettings: strict
    ),
    // What Errand, the command curl and URLSession make of the faults of a server.
    .executableTarget(
      name: "fault-table",
      dependencies: [.product(name: "Errand", package: "Errand"), .product(name: "ErrandTesting", package: "Errand")],
      swiftSettings: strict
    ),
    // SQLite without anything around it.
    .systemLibrary(name: "CBareSQLite", pkgConfig: "sqlite3"),
    // Clock, loops and the line that a child prints.
    .target(name: "BenchHarness", swiftSettings: strict),
  ]
)
