#if os(Linux)
  import ErrandCore
  import ErrandEngine
  import ErrandTesting
  import TestSupport
  import Testing
  import TransportChecks

  struct EngineConformanceTests {
    @Test(arguments: TransportConformance.all(for: EngineTransport()))
    func `passes the transport conformance tests`(_ check: TransportConformance.Check) async throws {
      try await check.run(EngineTransport())
    }

    // What the wrapped transports add has no sanitized run here, because it has one with the transport on libcurl.
    @Test(.enabled(if: !isSanitized), arguments: TransportConformance.all(for: EngineTransport()))
    func `passes the transport conformance tests while it is recorded`(_ check: TransportConformance.Check) async throws
    {
      try await check.run(RecordingTransport(EngineTransport()))
    }

    /// Checks that need a refused connection, the port of the server, or the moment at which bytes or the end of a
    /// connection reach the client, cannot run behind a relay. `TLSTests` has their equivalents.
    private static let checksOverTLS = TransportConformance.all(for: EngineTransport()).filter {
      let others = [
        "unknown host name is a failure", "unsolicited bytes are not a response",
        "closed idle connection is hidden from the caller", "metrics name the peer",
      ]
      return !$0.name.hasPrefix("refused") && !others.contains($0.name)
    }

    @Test(arguments: checksOverTLS)
    func `passes the transport conformance tests over TLS`(_ check: TransportConformance.Check) async throws {
      try await check.run(SecuringTransport())
    }

    /// The profile has the rates of a fast network, so that every body is paced but no test waits long.
    @Test(.enabled(if: !isSanitized), arguments: TransportConformance.all(for: EngineTransport()))
    func `passes the transport conformance tests with a network profile`(_ check: TransportConformance.Check)
      async throws
    {
      let profile = NetworkProfile(downloadRate: 100 << 20, uploadRate: 1 << 30)
      try await check.run(ProfiledTransport(EngineTransport(), profile))
    }
  }
#endif
