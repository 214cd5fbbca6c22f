#if os(Linux)
  import Errand
  import ErrandCurl
  import ErrandTesting
  import Foundation
  import Synchronization
  import Testing

  /// Tests a simulated bad network with a real server and a manual clock.
  struct ProfiledSocketTests {
    private let clock = ManualClock()

    private func client(_ server: LoopbackServer, _ profile: NetworkProfile) -> APIClient {
      var configuration = ClientConfiguration(baseURL: server.url)
      configuration.transport = .own(ProfiledTransport(CurlTransport(), profile))
      configuration.timers = clock
      return APIClient(configuration)
    }

    @Test func `request waits for the latency`() async throws {
      let server = try LoopbackServer { _ in .json(#"{"nick":"Ada"}"#) }
      let client = client(server, NetworkProfile(latency: .seconds(30)))
      async let user = client.send(ReplayUser(id: 7))
      #expect(await clock.waitForTimers(2))
      clock.advance(by: .seconds(29))
      #expect(clock.pending == 2)
      #expect(server.connectionCount == 0)
      clock.advance(by: .seconds(1))
      #expect(try await user.nick == "Ada")
      #expect(server.requests.count == 1)
    }

    @Test func `stream arrives at its rate`() async throws {
      let server = try LoopbackServer { _ in .generated(count: 100_000) }
      let client = client(server, NetworkProfile(downloadRate: 1_000))
      var count = 0
      let start = clock.now
      let turning = Task {
        while !Task.isCancelled {
          if clock.pending > 0 { clock.advance(by: .milliseconds(100)) }
          await Task.yield()
        }
      }
      for try await piece in try await client.stream(ReplayUser(id: 7)) { count += piece.count }
      turning.cancel()
      await turning.value
      #expect(count == 100_000)
      #expect(start.duration(to: clock.now) >= .seconds(100))
      withExtendedLifetime(server) {}
    }
  }
#endif
