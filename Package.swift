// swift-tools-version: 6.2
import PackageDescription

/// The settings of every target.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The module that apps import, and the modules whose types it exports. A target that imports only Errand depends on all
/// of them, and on the transports: SwiftPM compiles a target again only if a module changes on which the target depends
/// directly.
let exported = [
  "Errand", "ErrandCache", "ErrandCompression", "ErrandCore", "ErrandHTTP", "ErrandJSON", "ErrandTransfer",
]
let errand =
  exported.map { Target.Dependency(stringLiteral: $0) }
  + ["ErrandCurl", "ErrandEngine"].map { .target(name: $0, condition: .when(platforms: [.linux])) }

let package = Package(
  name: "Errand",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    // Errand is what apps import. The other modules are for their transports, stores and formats.
    .library(name: "Errand", targets: exported),
    .library(name: "ErrandTesting", targets: ["ErrandTesting"]),
    .library(name: "ErrandTestingTraits", targets: ["ErrandTestingTraits"]),
    .library(name: "ErrandRedis", targets: ["ErrandRedis"]),
    .library(name: "ErrandBackground", targets: ["ErrandBackground"]),
    .library(name: "ErrandOutbox", targets: ["ErrandOutbox"]),
    .library(name: "ErrandRecord", targets: ["ErrandRecord"]),
    .library(name: "ErrandTelemetry", targets: ["ErrandTelemetry"]),
    .library(name: "ErrandAdapters", targets: ["ErrandAdapters"]),
    .library(name: "ErrandChecksum", targets: ["ErrandChecksum"]),
    .library(name: "ErrandPublicSuffix", targets: ["ErrandPublicSuffix"]),
    .library(name: "ErrandXML", targets: ["ErrandXML"]),
    .library(name: "ErrandSwiftProtobuf", targets: ["ErrandSwiftProtobuf"]),
    .library(name: "ErrandURLSession", targets: ["ErrandURLSession"]),
    .library(name: "ErrandEngine", targets: ["ErrandEngine"]),
    .library(name: "ErrandCurl", targets: ["ErrandCurl"]),
    .executable(name: "errand", targets: ["ErrandCommand"]),
  ],
  traits: [
    .trait(
      name: "SwiftProtobuf", description: "Messages of SwiftProtobuf as bodies and responses: ErrandSwiftProtobuf."),
    .trait(name: "SwiftLog", description: "The log of a client in swift-log: ErrandAdapters."),
    .trait(name: "SwiftMetrics", description: "Measurements in swift-metrics: ErrandAdapters."),
    .trait(
      name: "SwiftDistributedTracing", description: "Spans of a tracer of swift-distributed-tracing: ErrandAdapters."),
    .trait(
      name: "SwiftServiceLifecycle",
      description: "The exporter as a service of swift-service-lifecycle: ErrandAdapters."
    ),
    .trait(name: "HTTPTypes", description: "Messages of swift-http-types: ErrandAdapters."),
    .trait(
      name: "OpenAPIRuntime", description: "A transport for clients of swift-openapi-generator: ErrandAdapters.",
      enabledTraits: ["HTTPTypes"]),
  ],
  dependencies: [
    // Each is fetched only if its trait is enabled.
    .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.28.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.2.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-openapi-runtime.git", from: "1.8.0"),
  ],
  targets: [
    // The module that apps import: exports the other modules and defines the standard order of the interceptors.
    .target(
      name: "Errand",
      dependencies: [
        "ErrandCore", "ErrandHTTP", "ErrandJSON", "ErrandCache", "ErrandCompression", "ErrandTransfer", "ErrandSupport",
        .target(name: "ErrandCurl", condition: .when(platforms: [.linux])),
        .target(name: "ErrandEngine", condition: .when(platforms: [.linux])),
        .target(
          name: "ErrandURLSession", condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])),
      ],
      swiftSettings: strict
    ),
    // Internal helpers of all targets.
    .target(name: "ErrandSupport", swiftSettings: strict),
    // Messages, URLs, bodies, cookies, the state of a call and the transport protocol. Does not know the client.
    .target(name: "ErrandHTTP", dependencies: ["ErrandSupport"], swiftSettings: strict),
    // Requests, the pipeline and the client. Opens no socket, and only the files from which bodies are read.
    .target(name: "ErrandCore", dependencies: ["ErrandHTTP", "ErrandJSON", "ErrandSupport"], swiftSettings: strict),
    // JSON values, shapes and decoding. Does not know HTTP.
    .target(name: "ErrandJSON", dependencies: ["ErrandSupport"], swiftSettings: strict),
    // Compresses bodies while they are sent.
    .target(name: "ErrandCompression", dependencies: ["ErrandCore", "CZlib"], swiftSettings: strict),
    // The cache: keys, decisions, interceptors and stores.
    .target(name: "ErrandCache", dependencies: ["ErrandCore", "ErrandSupport", "CSQLite"], swiftSettings: strict),
    // The cache store on Redis. It is separate, so that only its users link hiredis.
    .target(
      name: "ErrandRedis", dependencies: ["ErrandCache", "ErrandCore", "ErrandSupport", "CHiredis"],
      swiftSettings: strict),
    // The outbox: changes that are stored first and sent later.
    .target(
      name: "ErrandOutbox",
      dependencies: [
        "ErrandCache", "ErrandCore", "ErrandHTTP", "ErrandJSON", "ErrandSupport", "CSQLite",
        .target(name: "CErrandFiles", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict),
    // The flight record outside the process: its file, its page, and HTTP archives.
    .target(
      name: "ErrandRecord", dependencies: ["ErrandCore", "ErrandHTTP", "ErrandJSON", "ErrandSupport"],
      swiftSettings: strict),
    // Trace context, spans and metrics, and their export over OTLP.
    .target(
      name: "ErrandTelemetry", dependencies: errand + ["ErrandSupport"],
      swiftSettings: strict),
    // Adapters for packages of the Swift server ecosystem. Each file is empty unless the trait of its package is enabled.
    .target(
      name: "ErrandAdapters",
      dependencies: [
        "ErrandTelemetry", "ErrandCore", "ErrandHTTP", "ErrandSupport",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["SwiftMetrics"])),
        .product(
          name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["SwiftDistributedTracing"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["SwiftServiceLifecycle"])),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"])),
        .product(
          name: "OpenAPIRuntime", package: "swift-openapi-runtime", condition: .when(traits: ["OpenAPIRuntime"])),
      ],
      swiftSettings: strict),
    // Writes Swift requests and models from an OpenAPI document.
    .target(name: "ErrandGenerate", swiftSettings: strict),
    // SHA-256, SHA-512 and HMAC. They are separate, so that only their users link libcrypto.
    .target(
      name: "ErrandChecksum",
      dependencies: [
        "ErrandCore", "ErrandSupport", .target(name: "CCrypto", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict
    ),
    // The public suffix list for cookies that hosts share. It is separate, so that only its users link libpsl.
    .target(
      name: "ErrandPublicSuffix",
      dependencies: ["ErrandCore", .target(name: "CPSL", condition: .when(platforms: [.linux]))],
      swiftSettings: strict
    ),
    // XML documents and values read from them. They are separate, so that only their users link libxml2.
    .target(name: "ErrandXML", dependencies: ["ErrandCore", "ErrandSupport"], swiftSettings: strict),
    // Messages of SwiftProtobuf. Empty unless the trait of that name is enabled.
    .target(
      name: "ErrandSwiftProtobuf",
      dependencies: [
        "ErrandCore",
        .product(name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["SwiftProtobuf"])),
      ],
      swiftSettings: strict),
    // Downloads and uploads: the files of a download, the decisions about resuming, and the calls of the API.
    .target(
      name: "ErrandTransfer",
      dependencies: [
        "ErrandCore", "ErrandJSON", "ErrandSupport",
        .target(name: "CErrandFiles", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict),
    // Downloads and uploads that the operating system carries out, also while the app does not run.
    .target(
      name: "ErrandBackground", dependencies: ["ErrandTransfer", "ErrandCore", "ErrandJSON", "ErrandSupport"],
      swiftSettings: strict),
    // Decodes content codings for the transports of Linux.
    .target(
      name: "ErrandDecoding",
      dependencies: [
        "ErrandHTTP", .target(name: "CZlib", condition: .when(platforms: [.linux])),
        .target(name: "CBrotli", condition: .when(platforms: [.linux])),
        .target(name: "CZstd", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict
    ),
    // Reads trust settings and names TLS failures for the transports of Linux.
    .target(
      name: "ErrandTLS",
      dependencies: ["ErrandHTTP", .target(name: "CErrandTLS", condition: .when(platforms: [.linux]))],
      swiftSettings: strict
    ),
    // The transport on the library's own HTTP engine, the default on Linux.
    .target(
      name: "ErrandEngine",
      dependencies: [
        "ErrandHTTP", "ErrandDecoding", "ErrandSupport", "ErrandTLS",
        .target(name: "CErrandTLS", condition: .when(platforms: [.linux])),
        .target(name: "CErrandEngine", condition: .when(platforms: [.linux])),
        .target(name: "CNGHTTP2", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict
    ),
    // The transport on libcurl, for Linux: more kinds of proxies, and a second opinion.
    .target(
      name: "ErrandCurl",
      dependencies: [
        "ErrandHTTP", "ErrandDecoding", "ErrandSupport", "ErrandTLS",
        .target(name: "CErrandCurl", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict
    ),
    // The transport on URLSession, the default on Apple platforms. On Linux it is a separate product, so that only its
    // users link FoundationNetworking.
    .target(name: "ErrandURLSession", dependencies: ["ErrandHTTP", "ErrandSupport"], swiftSettings: strict),
    // The test kit for apps.
    .target(
      name: "ErrandTesting", dependencies: ["ErrandCore", "ErrandJSON", "ErrandRecord", "ErrandSupport"],
      swiftSettings: strict),
    // Traits for Swift Testing. They are separate, so that programs that use the test kit do not link that library.
    .target(name: "ErrandTestingTraits", dependencies: ["ErrandTesting"], swiftSettings: strict),
    // The command `errand`.
    .executableTarget(
      name: "ErrandCommand",
      dependencies: errand + [
        "ErrandChecksum", "ErrandGenerate", "ErrandOutbox", "ErrandRecord", "ErrandTesting",
        "ErrandSupport",
      ],
      swiftSettings: strict),
    // Example apps, each with its own server.
    .executableTarget(
      name: "ExampleAlbum", dependencies: errand + ["ErrandTesting"], path: "Examples/Album",
      exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
      name: "ExampleMarket", dependencies: errand + ["ErrandTesting"], path: "Examples/Market",
      exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
      name: "ExampleLedger", dependencies: errand + ["ErrandTesting"], path: "Examples/Ledger",
      exclude: ["README.md"], swiftSettings: strict),
    // Five tasks with Errand and with URLSession, for the guides. `Scripts/comparison.py` compiles the other libraries.
    .target(
      name: "ExampleComparison", dependencies: errand, path: "Examples/Comparison", exclude: ["Others"],
      swiftSettings: strict),

    // Bridges to C libraries.
    .target(name: "CErrandFiles"),
    .target(name: "CErrandCurl", dependencies: ["CCurl", "CErrandTLS", "COpenSSL"]),
    .target(name: "CErrandTLS", dependencies: ["COpenSSL"]),
    .target(name: "CErrandEngine"),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    // Without pkg-config: SwiftPM rejects a flag in the file of hiredis with a warning in every build.
    .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
    .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"]), .brew(["libpsl"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
      name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .systemLibrary(
      name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"]), .brew(["libnghttp2"])]),

    .testTarget(
      name: "ErrandHTTPTests", dependencies: ["ErrandHTTP", "ErrandSupport", "ErrandTesting", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandCoreTests", dependencies: ["ErrandCore", "ErrandTesting", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ErrandCacheTests",
      dependencies: errand + [
        "ErrandRedis", "ErrandSupport", "ErrandTesting", "CacheCrasher", "StoreSamples", "TestSupport",
      ],
      swiftSettings: strict),
    // Keys and entries for the tests of all stores.
    .target(
      name: "StoreSamples", dependencies: ["ErrandCache", "ErrandCore", "ErrandHTTP", "ErrandTesting", "TestSupport"],
      path: "Tests/StoreSamples", swiftSettings: strict),
    // A process that ErrandCacheTests kills while the process uses a store.
    .executableTarget(
      name: "CacheCrasher", dependencies: ["ErrandCache", "ErrandCore", "ErrandSupport", "TestSupport"],
      path: "Tests/CacheCrasher", swiftSettings: strict),
    .testTarget(
      name: "ErrandRedisTests",
      dependencies: errand + [
        "ErrandRedis", "CHiredis", "ErrandSupport", "ErrandTesting", "StoreSamples", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandOutboxTests",
      dependencies: errand + [
        "ErrandOutbox", "ErrandSupport", "ErrandTesting", "OutboxCrasher", "TestSupport",
      ],
      swiftSettings: strict),
    // A process that ErrandOutboxTests kills while the process uses an outbox.
    .executableTarget(
      name: "OutboxCrasher", dependencies: errand + ["ErrandOutbox", "ErrandSupport"],
      path: "Tests/OutboxCrasher",
      swiftSettings: strict),
    .testTarget(
      name: "ErrandRecordTests",
      dependencies: errand + [
        "ErrandRecord", "ErrandSupport", "ErrandTesting", "RecordCrasher",
        "TestSupport",
      ],
      swiftSettings: strict),
    // A process that ErrandRecordTests kills while the process writes the file of its flight record.
    .executableTarget(
      name: "RecordCrasher", dependencies: errand + ["ErrandRecord", "ErrandTesting"], path: "Tests/RecordCrasher",
      swiftSettings: strict),
    // A process that makes pages of flight records, for Scripts/page.py.
    .executableTarget(
      name: "PageSample", dependencies: errand + ["ErrandRecord", "ErrandTesting"], path: "Tests/PageSample",
      swiftSettings: strict),
    .testTarget(
      name: "ErrandTelemetryTests",
      dependencies: errand + [
        "ErrandTelemetry", "ErrandSupport", "ErrandTesting", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandGenerateTests", dependencies: errand + ["ErrandGenerate", "GeneratedTeaShop", "ErrandTesting"],
      swiftSettings: strict),
    // Requests that `errand generate` wrote, for ErrandGenerateTests. It has the default settings of a new package.
    .target(
      name: "GeneratedTeaShop", dependencies: errand, path: "Tests/GeneratedTeaShop", exclude: ["openapi.json"],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "ErrandChecksumTests", dependencies: ["ErrandChecksum", "ErrandCore"], swiftSettings: strict),
    .testTarget(
      name: "ErrandPublicSuffixTests", dependencies: ["ErrandPublicSuffix", "ErrandCore"], swiftSettings: strict),
    .testTarget(
      name: "ErrandXMLTests", dependencies: errand + ["ErrandXML", "ErrandTesting", "TestSupport"],
      swiftSettings: strict),
    // The tests of ErrandBackground use the faulty file systems of these tests.
    .testTarget(
      name: "ErrandTransferTests",
      dependencies: ["ErrandTransfer", "ErrandBackground", "ErrandCore", "ErrandSupport", "ErrandTesting"],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandJSONTests", dependencies: ["ErrandJSON", "ErrandSupport", "ErrandTesting", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandCurlTests",
      dependencies: errand + [
        "ErrandDecoding", "ErrandTLS", "CErrandTLS", "ErrandSupport", "ErrandTesting", "CodedSamples",
        "TransportChecks", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandEngineTests",
      dependencies: [
        "ErrandEngine", "ErrandDecoding", "ErrandHTTP", "ErrandCore", "ErrandSupport", "ErrandTesting", "CodedSamples",
        "CTLSServer", "EngineServer", "TransportChecks", "TestSupport",
        .target(name: "CNGHTTP2", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict),
    // The server's side of TLS, for ErrandEngineTests.
    .target(name: "CTLSServer", dependencies: ["COpenSSL"], path: "Tests/CTLSServer"),
    // A process with a server for ten thousand connections, for ErrandEngineTests.
    .executableTarget(
      name: "EngineServer", dependencies: ["ErrandSupport"], path: "Tests/EngineServer", swiftSettings: strict),
    // Bodies in each content coding for the tests of transports.
    .target(
      name: "CodedSamples", dependencies: ["ErrandDecoding", "CZlib", "CZstd"], path: "Tests/CodedSamples",
      swiftSettings: strict),
    // The rules that every transport must follow, as checks that the tests of each transport run.
    .target(
      name: "TransportChecks", dependencies: ["ErrandCore", "ErrandSupport", "ErrandTesting", "TestSupport"],
      path: "Tests/TransportChecks", swiftSettings: strict),
    .testTarget(
      name: "ErrandURLSessionTests",
      dependencies: errand + [
        "ErrandURLSession", "ErrandSupport", "ErrandTesting", "TransportChecks",
        "TransportProbe", "TestSupport",
      ],
      swiftSettings: strict),
    // A process that runs one check of the transport on URLSession, because Foundation on Linux can crash it.
    .executableTarget(
      name: "TransportProbe", dependencies: ["ErrandURLSession", "ErrandSupport", "TransportChecks"],
      path: "Tests/TransportProbe", swiftSettings: strict),
    .testTarget(
      name: "ErrandTestingTests",
      dependencies: errand + ["ErrandTesting", "ErrandTestingTraits", "ErrandRecord", "ErrandSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandTests",
      dependencies: errand + [
        "ErrandBackground", "ErrandChecksum", "ErrandDecoding", "ErrandSupport",
        "ErrandTesting",
        "CodedSamples", "MainActorClient", "PublicRequests", "MemoryProbe", "DownloadCrasher", "TestSupport",
        "TransportChecks",
      ],
      swiftSettings: strict),
    // The settings of a client from the environment, and draining.
    .testTarget(
      name: "ErrandServerTests",
      dependencies: errand + ["ErrandTesting", "TestSupport"],
      swiftSettings: strict),
    // A process that sends a file or receives very large responses, while ErrandTests measures its memory.
    .executableTarget(
      name: "MemoryProbe", dependencies: errand, path: "Tests/MemoryProbe", swiftSettings: strict),
    // A process that ErrandTests kills during a download.
    .executableTarget(
      name: "DownloadCrasher", dependencies: errand, path: "Tests/DownloadCrasher", swiftSettings: strict),
    // A process in which file calls fail, and the C library that makes them fail. The tests do not link that library,
    // because their own file calls must not fail.
    .executableTarget(
      name: "FaultProbe", dependencies: errand + ["CFaultyCalls"],
      path: "Tests/FaultProbe", swiftSettings: strict),
    .target(name: "CFaultyCalls", path: "Tests/CFaultyCalls"),
    // A small app whose default isolation is the main actor, for ErrandTests.
    .target(
      name: "MainActorClient", dependencies: errand, path: "Tests/MainActorClient",
      swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
    // A module with public requests, for ErrandTests. It has the default settings of a new package.
    .target(
      name: "PublicRequests", dependencies: errand, path: "Tests/PublicRequests",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "ExampleTests",
      dependencies: errand + [
        "ExampleAlbum", "ExampleMarket", "ExampleLedger", "ExampleComparison", "ErrandTesting", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandCommandTests",
      dependencies: errand + [
        "ErrandCommand", "ErrandOutbox", "ErrandRecord", "ErrandSupport", "ErrandTesting", "TestSupport",
      ],
      swiftSettings: strict),
    // Helpers of several test targets: the built programs and the conditions of a run.
    .target(
      name: "TestSupport", dependencies: ["ErrandSupport"], path: "Tests/TestSupport", swiftSettings: strict),
  ]
)

// A release build optimises the library and not the tests, which would take several times as long to build.
for target in package.targets where target.type == .test {
  target.swiftSettings = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]
}

// The sanitizers of `Scripts/check.sh` do not build the tests that they do not run.
if let names = Context.environment["ERRAND_WITHOUT"]?.split(separator: " ") {
  package.targets.removeAll { target in names.contains { $0 == target.name } }
}

// The fuzz targets. Only `Scripts/fuzz.sh` enables them, because nothing else needs libFuzzer.
if Context.environment["ERRAND_FUZZ"] != nil {
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Fuzz/CLibFuzzer"),
    // The server's side of TLS in memory, with random numbers that are the same in each run.
    .target(name: "CFuzzPeer", dependencies: ["COpenSSL"], path: "Fuzz/CFuzzPeer"),
    .executableTarget(
      name: "ErrandFuzz",
      dependencies: [
        "ErrandCore", "ErrandHTTP", "ErrandJSON", "ErrandCache", "ErrandCurl", "ErrandDecoding", "ErrandEngine",
        "ErrandGenerate", "ErrandRecord", "ErrandRedis", "ErrandTLS", "ErrandTransfer", "ErrandXML", "CFuzzPeer",
        "CHiredis", "CLibFuzzer", "CNGHTTP2",
      ],
      path: "Fuzz/ErrandFuzz", swiftSettings: strict),
  ]
  // libFuzzer also counts the edges of this C code. Scripts/fuzz.sh passes such a flag for Swift only.
  for target in package.targets where target.name == "CErrandTLS" {
    target.cSettings = [.unsafeFlags(["-fsanitize=fuzzer-no-link"])]
  }
}
