// swift-tools-version: 6.2
import PackageDescription

// The tests of ErrandAdapters, with all traits enabled. `Scripts/with-packages.sh` names the folder with the packages, and
// the packages in it that those packages need.
let folder = Context.environment["ERRAND_PACKAGES"] ?? "../StandIns"
let others = Context.environment["ERRAND_OTHER_PACKAGES"]?.split(separator: " ").map(String.init) ?? []

let package = Package(
  name: "ErrandAdapterTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(
      name: "Errand", path: "../..",
      traits: [
        "SwiftLog", "SwiftMetrics", "SwiftDistributedTracing", "SwiftServiceLifecycle", "HTTPTypes", "OpenAPIRuntime",
      ]),
    .package(path: "\(folder)/swift-log"), .package(path: "\(folder)/swift-metrics"),
    .package(path: "\(folder)/swift-distributed-tracing"), .package(path: "\(folder)/swift-service-lifecycle"),
    .package(path: "\(folder)/swift-http-types"), .package(path: "\(folder)/swift-openapi-runtime"),
  ] + others.map { .package(path: "\(folder)/\($0)") },
  targets: [
    .testTarget(
      name: "AdapterTests",
      dependencies: [
        .product(name: "Errand", package: "Errand"), .product(name: "ErrandAdapters", package: "Errand"),
        .product(name: "ErrandTelemetry", package: "Errand"), .product(name: "ErrandTesting", package: "Errand"),
        .product(name: "Logging", package: "swift-log"), .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
