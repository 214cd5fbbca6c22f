// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "swift-distributed-tracing",
  platforms: [.macOS(.v15)],
  products: [.library(name: "Tracing", targets: ["Tracing"])],
  targets: [.target(name: "Tracing")]
)
