#if os(Linux)
  import ErrandCore
  import ErrandEngine
  import ErrandTesting
  import Testing
  import TransportChecks

  @Suite struct EngineConformanceTests {
    @Test(arguments: TransportConformance.all(for: EngineTransport()))
    func `keeps the promises of the seam`(_ check: TransportConformance.Check) async throws {
      try await check.run(EngineTransport())
    }

    @Test(arguments: TransportConformance.all(for: EngineTransport()))
    func `keeps them while it is recorded`(_ check: TransportConformance.Check) async throws {
      try await check.run(RecordingTransport(EngineTransport()))
    }

    /// The rates are those of a fast network, so that every body is paced and no test waits for long.
    @Test(arguments: TransportConformance.all(for: EngineTransport()))
    func `keeps them behind a network profile`(_ check: TransportConformance.Check) async throws {
      let profile = NetworkProfile(downloadRate: 100 << 20, uploadRate: 1 << 30)
      try await check.run(ProfiledTransport(EngineTransport(), profile))
    }
  }
#endif
