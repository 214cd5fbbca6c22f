#if os(Linux)
  import ErrandCore
  import ErrandCurl
  import Testing
  import TransportChecks

  @Suite struct CurlConformanceTests {
    @Test(arguments: TransportConformance.all(for: CurlTransport()))
    func `keeps the promises of the seam`(_ check: TransportConformance.Check) async throws {
      try await check.run(CurlTransport())
    }
  }
#endif
