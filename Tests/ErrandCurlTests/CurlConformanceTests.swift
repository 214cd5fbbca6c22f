#if os(Linux)
  import ErrandCore
  import ErrandCurl
  import ErrandTesting
  import Testing

  @Suite struct CurlConformanceTests {
    @Test(arguments: TransportConformance.all(for: CurlTransport()))
    func `keeps the promises of the seam`(_ check: TransportConformance.Check) async throws {
      try await check.run(CurlTransport())
    }

    @Test(arguments: TransportConformance.all(for: CurlTransport()))
    func `keeps them while it is recorded`(_ check: TransportConformance.Check) async throws {
      try await check.run(RecordingTransport(CurlTransport()))
    }
  }
#endif
