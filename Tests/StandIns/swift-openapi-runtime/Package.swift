// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "swift-openapi-runtime",
  platforms: [.macOS(.v15)],
  products: [.library(name: "OpenAPIRuntime", targets: ["OpenAPIRuntime"])],
  dependencies: [.package(path: "../swift-http-types")],
  targets: [
    .target(name: "OpenAPIRuntime", dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")])
  ]
)
