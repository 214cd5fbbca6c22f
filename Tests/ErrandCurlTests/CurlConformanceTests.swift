#if os(Linux)
  import ErrandCore
  import ErrandCurl
  import ErrandTesting
  import Testing
  import TransportChecks

  struct CurlConformanceTests {
    @Test(arguments: TransportConformance.all(for: CurlTransport()))
    func `transport passes conformance checks`(_ check: TransportConformance.Check) async throws {
      try await check.run(CurlTransport())
    }

    @Test(arguments: TransportConformance.all(for: CurlTransport()))
    func `recorded transport passes conformance checks`(_ check: TransportConformance.Check) async throws {
      try await check.run(RecordingTransport(CurlTransport()))
    }

    /// The rates are those of a fast network: every body is paced, and no check waits for long.
    @Test(arguments: TransportConformance.all(for: CurlTransport()))
    func `profiled transport passes conformance checks`(_ check: TransportConformance.Check) async throws {
      let profile = NetworkProfile(downloadRate: 100 << 20, uploadRate: 1 << 30)
      try await check.run(ProfiledTransport(CurlTransport(), profile))
    }
  }
#endif
