// swift-tools-version: 6.2
import PackageDescription

/// Every target is built by the same strict rules.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "Errand",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Errand", targets: ["Errand"]),
    .library(name: "ErrandTesting", targets: ["ErrandTesting"]),
    .library(name: "ErrandTestingTraits", targets: ["ErrandTestingTraits"]),
    .library(name: "ErrandRedis", targets: ["ErrandRedis"]),
    .library(name: "ErrandChecksum", targets: ["ErrandChecksum"]),
    .library(name: "ErrandPublicSuffix", targets: ["ErrandPublicSuffix"]),
    .library(name: "ErrandXML", targets: ["ErrandXML"]),
    .library(name: "ErrandSwiftProtobuf", targets: ["ErrandSwiftProtobuf"]),
    .library(name: "ErrandURLSession", targets: ["ErrandURLSession"]),
    .executable(name: "errand", targets: ["ErrandCommand"]),
  ],
  traits: [
    .trait(
      name: "SwiftProtobuf", description: "Messages of SwiftProtobuf as bodies and answers: ErrandSwiftProtobuf.")
  ],
  dependencies: [
    // Fetched where the trait asks for it, and only there.
    .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.28.0")
  ],
  targets: [
    // What users import: re-exports the parts and gives the standard order of the line.
    .target(
      name: "Errand",
      dependencies: [
        "ErrandCore", "ErrandHTTP", "ErrandJSON", "ErrandCache", "ErrandCompression", "ErrandTransfer",
        .target(name: "ErrandCurl", condition: .when(platforms: [.linux])),
        .target(name: "ErrandEngine", condition: .when(platforms: [.linux])),
        .target(
          name: "ErrandURLSession", condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])),
      ],
      swiftSettings: strict
    ),
    // What every part needs and no user sees.
    .target(name: "ErrandSupport", swiftSettings: strict),
    // Messages, URLs, bodies, cookies, the state of a call, and what a transport is. Knows no client.
    .target(name: "ErrandHTTP", dependencies: ["ErrandSupport"], swiftSettings: strict),
    // Requests, the pipeline and the client. Opens no socket, and no file but those that bodies are read from.
    .target(name: "ErrandCore", dependencies: ["ErrandHTTP", "ErrandJSON", "ErrandSupport"], swiftSettings: strict),
    // JSON values, shapes and decoding. Knows nothing of HTTP.
    .target(name: "ErrandJSON", dependencies: ["ErrandSupport"], swiftSettings: strict),
    // Compresses bodies while they are sent.
    .target(name: "ErrandCompression", dependencies: ["ErrandCore", "CZlib"], swiftSettings: strict),
    // The cache: key, decision, stations and stores.
    .target(name: "ErrandCache", dependencies: ["ErrandCore", "ErrandSupport", "CSQLite"], swiftSettings: strict),
    // The cache's store on Redis, apart so that nobody else links hiredis.
    .target(
      name: "ErrandRedis", dependencies: ["ErrandCache", "ErrandCore", "ErrandSupport", "CHiredis"],
      swiftSettings: strict),
    // SHA-256 and SHA-512 for downloads, apart so that nobody else links libcrypto.
    .target(
      name: "ErrandChecksum",
      dependencies: [
        "ErrandCore", "ErrandSupport", .target(name: "CCrypto", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict
    ),
    // The public suffix list for cookies that hosts share, apart so that nobody else links libpsl.
    .target(
      name: "ErrandPublicSuffix",
      dependencies: ["ErrandCore", .target(name: "CPSL", condition: .when(platforms: [.linux]))],
      swiftSettings: strict
    ),
    // XML documents and values read from them, apart so that nobody else links libxml2.
    .target(name: "ErrandXML", dependencies: ["ErrandCore"], swiftSettings: strict),
    // Messages of SwiftProtobuf, where the trait of that name is on; empty without it.
    .target(
      name: "ErrandSwiftProtobuf",
      dependencies: [
        "ErrandCore",
        .product(name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["SwiftProtobuf"])),
      ],
      swiftSettings: strict),
    // Downloads and uploads: the files of a download, what is resumed, and the calls that users make.
    .target(
      name: "ErrandTransfer",
      dependencies: [
        "ErrandCore", "ErrandSupport", .target(name: "CErrandFiles", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict),
    // Undoes content codings, for the transports of Linux.
    .target(
      name: "ErrandDecoding",
      dependencies: [
        "ErrandHTTP", .target(name: "CZlib", condition: .when(platforms: [.linux])),
        .target(name: "CBrotli", condition: .when(platforms: [.linux])),
        .target(name: "CZstd", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict
    ),
    // The transport of this library's own HTTP engine, for Linux.
    .target(
      name: "ErrandEngine",
      dependencies: [
        "ErrandHTTP", "ErrandDecoding", "ErrandSupport",
        .target(name: "CErrandEngine", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict
    ),
    // The transport on libcurl, for Linux.
    .target(
      name: "ErrandCurl",
      dependencies: [
        "ErrandHTTP", "ErrandDecoding", "ErrandSupport",
        .target(name: "CErrandCurl", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict
    ),
    // The transport on URLSession: the one of Apple platforms. On Linux it stands apart, so that nobody else links
    // FoundationNetworking.
    .target(name: "ErrandURLSession", dependencies: ["ErrandHTTP", "ErrandSupport"], swiftSettings: strict),
    // Shipped to users for their own tests.
    .target(
      name: "ErrandTesting", dependencies: ["ErrandCore", "ErrandJSON", "ErrandSupport"], swiftSettings: strict),
    // Traits for Swift Testing, apart so that a program that uses the testing kit does not link that library.
    .target(name: "ErrandTestingTraits", dependencies: ["ErrandTesting"], swiftSettings: strict),
    // The command.
    .executableTarget(
      name: "ErrandCommand",
      dependencies: ["Errand", "ErrandChecksum", "ErrandTransfer", "ErrandTesting", "ErrandSupport"],
      swiftSettings: strict),
    // Apps as teams write them, each with a server of its own.
    .executableTarget(
      name: "ExampleAlbum", dependencies: ["Errand", "ErrandTesting"], path: "Examples/Album",
      exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
      name: "ExampleMarket", dependencies: ["Errand", "ErrandTesting"], path: "Examples/Market",
      exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
      name: "ExampleLedger", dependencies: ["Errand", "ErrandTesting"], path: "Examples/Ledger",
      exclude: ["README.md"], swiftSettings: strict),

    // Bridges to C libraries.
    .target(name: "CErrandFiles"),
    .target(name: "CErrandCurl", dependencies: ["CCurl"]),
    .target(name: "CErrandEngine"),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    // Without pkg-config: hiredis' own file has a flag that SwiftPM refuses with a warning in every build.
    .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
    .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"]), .brew(["libpsl"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
      name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),

    .testTarget(
      name: "ErrandHTTPTests", dependencies: ["ErrandHTTP", "ErrandSupport", "ErrandTesting", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandCoreTests", dependencies: ["ErrandCore", "ErrandTesting", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ErrandCacheTests",
      dependencies: [
        "ErrandCache", "ErrandRedis", "ErrandCore", "ErrandJSON", "ErrandSupport", "ErrandTesting", "Errand",
        "CacheCrasher", "StoreSamples", "TestSupport",
      ],
      swiftSettings: strict),
    // Keys and entries, for the tests of all stores.
    .target(
      name: "StoreSamples", dependencies: ["ErrandCache", "ErrandCore", "TestSupport"], path: "Tests/StoreSamples",
      swiftSettings: strict),
    // A process that ErrandCacheTests kills while it uses a store.
    .executableTarget(
      name: "CacheCrasher", dependencies: ["ErrandCache", "ErrandCore", "ErrandSupport", "TestSupport"],
      path: "Tests/CacheCrasher", swiftSettings: strict),
    .testTarget(
      name: "ErrandRedisTests",
      dependencies: [
        "ErrandRedis", "CHiredis", "ErrandCache", "ErrandCore", "ErrandSupport", "ErrandTesting", "Errand",
        "StoreSamples", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandChecksumTests", dependencies: ["ErrandChecksum", "ErrandCore"], swiftSettings: strict),
    .testTarget(
      name: "ErrandPublicSuffixTests", dependencies: ["ErrandPublicSuffix", "ErrandCore"], swiftSettings: strict),
    .testTarget(
      name: "ErrandXMLTests", dependencies: ["ErrandXML", "ErrandCore", "ErrandTesting", "Errand", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandTransferTests", dependencies: ["ErrandTransfer", "ErrandCore", "ErrandSupport", "ErrandTesting"],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandJSONTests", dependencies: ["ErrandJSON", "ErrandTesting", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ErrandCurlTests",
      dependencies: [
        "ErrandCurl", "ErrandDecoding", "ErrandTesting", "Errand", "CodedSamples", "TransportChecks", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandEngineTests",
      dependencies: [
        "ErrandEngine", "ErrandDecoding", "ErrandHTTP", "ErrandCore", "ErrandSupport", "ErrandTesting", "CodedSamples",
        "EngineServer", "TransportChecks", "TestSupport",
      ],
      swiftSettings: strict),
    // A process with a server for ten thousand connections, for ErrandEngineTests.
    .executableTarget(
      name: "EngineServer", dependencies: ["ErrandSupport"], path: "Tests/EngineServer", swiftSettings: strict),
    // Bodies in each content coding, for the tests of transports.
    .target(
      name: "CodedSamples", dependencies: ["ErrandDecoding", "CZlib", "CZstd"], path: "Tests/CodedSamples",
      swiftSettings: strict),
    // What every transport has to keep to, for the tests of each.
    .target(
      name: "TransportChecks", dependencies: ["ErrandCore", "ErrandTesting"], path: "Tests/TransportChecks",
      swiftSettings: strict),
    .testTarget(
      name: "ErrandURLSessionTests",
      dependencies: [
        "ErrandURLSession", "ErrandCore", "ErrandSupport", "ErrandTesting", "Errand", "TransportChecks",
        "TransportProbe", "TestSupport",
      ],
      swiftSettings: strict),
    // A process that holds the transport on URLSession to one check: Foundation on Linux can end it.
    .executableTarget(
      name: "TransportProbe", dependencies: ["ErrandURLSession", "TransportChecks"], path: "Tests/TransportProbe",
      swiftSettings: strict),
    .testTarget(
      name: "ErrandTestingTests", dependencies: ["ErrandTesting", "ErrandTestingTraits", "Errand", "ErrandJSON"],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandTests",
      dependencies: [
        "Errand", "ErrandTransfer", "ErrandChecksum", "ErrandSupport", "ErrandTesting", "MainActorClient",
        "MemoryProbe", "DownloadCrasher", "TestSupport", "TransportChecks",
      ],
      swiftSettings: strict),
    // A process that sends a file or takes a flood, in which ErrandTests measures memory.
    .executableTarget(
      name: "MemoryProbe", dependencies: ["Errand"], path: "Tests/MemoryProbe", swiftSettings: strict),
    // A process that ErrandTests kills while it downloads.
    .executableTarget(
      name: "DownloadCrasher", dependencies: ["Errand"], path: "Tests/DownloadCrasher", swiftSettings: strict),
    // A process in which file calls fail. Tests depend on neither: in theirs no call is stood between.
    .executableTarget(
      name: "FaultProbe", dependencies: ["Errand", "ErrandCache", "ErrandCore", "CFaultyCalls"],
      path: "Tests/FaultProbe", swiftSettings: strict),
    .target(name: "CFaultyCalls", path: "Tests/CFaultyCalls"),
    // A small app whose default isolation is the main actor, for ErrandTests.
    .target(
      name: "MainActorClient", dependencies: ["Errand"], path: "Tests/MainActorClient",
      swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "ExampleTests",
      dependencies: ["ExampleAlbum", "ExampleMarket", "ExampleLedger", "Errand", "ErrandTesting", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ErrandCommandTests",
      dependencies: ["ErrandCommand", "Errand", "ErrandTransfer", "ErrandTesting", "TestSupport"],
      swiftSettings: strict),
    // What tests of several targets need: the built programs, and the conditions that a run has.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
  ]
)

// The fuzz targets, only where `Scripts/fuzz.sh` asks for them: nothing else needs libFuzzer.
if Context.environment["ERRAND_FUZZ"] != nil {
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Fuzz/CLibFuzzer"),
    .executableTarget(
      name: "ErrandFuzz",
      dependencies: [
        "ErrandCore", "ErrandHTTP", "ErrandJSON", "ErrandCache", "ErrandCurl", "ErrandDecoding", "ErrandEngine",
        "ErrandRedis", "ErrandTransfer", "ErrandXML", "CHiredis", "CLibFuzzer",
      ],
      path: "Fuzz/ErrandFuzz", swiftSettings: strict),
  ]
}
