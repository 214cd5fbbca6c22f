#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import Glibc
  import Synchronization
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// The address of a connection: names, overrides, custom resolvers, address policies, Unix domain sockets.
  struct EngineNamesTests {
    private struct Fixed: NameResolver {
      let found: [String]
      func addresses(of host: String, port: Int) async throws -> [String] { found }
    }

    private struct Failing: NameResolver {
      struct Fault: Error {}
      func addresses(of host: String, port: Int) async throws -> [String] { throw Fault() }
    }

    /// A resolver that returns nothing until its task is cancelled.
    private struct Silent: NameResolver {
      func addresses(of host: String, port: Int) async throws -> [String] {
        let (cancelled, end) = AsyncStream.makeStream(of: Void.self)
        await withTaskCancellationHandler {
          for await _ in cancelled {}
        } onCancel: {
          end.finish()
        }
        return []
      }
    }

    private static func failure(_ transport: EngineTransport, _ url: String, connect: Duration? = .seconds(10))
      async throws
      -> TransportFailure?
    {
      await TransportConformance.failure(
        of: Exchange(request: try HTTPRequest(url: url), connectTimeout: connect), over: transport)
    }

    @Test(arguments: ["127.0.0.1", "[::1],127.0.0.1", "127.0.0.1,::1", "fe80::1%lo,127.0.0.1"])
    func `an address can be given for a host`(addresses: String) async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      var configuration = EngineConfiguration()
      configuration.addressOverrides = ["API.example.com:\(server.port)": addresses]
      let transport = try EngineTransport(configuration)
      #expect(try await TransportConformance.get(transport, "http://api.example.com:\(server.port)/").text == "here")
      #expect(server.requests.last?.headers["Host"] == "api.example.com:\(server.port)")
    }

    @Test(arguments: [
      ("foo.test:1", "localhost"), ("foo.test:https", "127.0.0.1"), ("foo.test:1", "127.0.0.1:8080"),
      ("foo.test:70000", "127.0.0.1"), ("foo.test:0", "127.0.0.1"), ("foo.test", "127.0.0.1"),
      ("foo.test:1", "127.0.0.1,"), (":1", "127.0.0.1"), ("foo.test:", "127.0.0.1"),
    ])
    func `an invalid address override is rejected`(place: String, address: String) throws {
      var configuration = EngineConfiguration()
      configuration.addressOverrides = [place: address]
      let error = #expect(throws: EngineConfiguration.Invalid.self) { try EngineTransport(configuration) }
      #expect(error?.description.contains(place) == true)
    }

    @Test func `a resolver finds the address`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      let transport = try EngineTransport(EngineConfiguration(), resolver: Fixed(found: ["127.0.0.1"]))
      let response = try await TransportConformance.get(transport, "http://registry.test:\(server.port)/")
      #expect(response.text == "here" && response.metrics.nameLookup != nil)
      let unasked = try EngineTransport(EngineConfiguration(), resolver: Failing())
      #expect(try await TransportConformance.get(unasked, server.url).text == "here")
    }

    @Test func `a resolver without a valid address is a lookup failure`() async throws {
      for resolver in [Fixed(found: []), Fixed(found: ["localhost"]), Failing()] as [any NameResolver] {
        let transport = try EngineTransport(EngineConfiguration(), resolver: resolver)
        let failure = try await Self.failure(transport, "http://registry.test/")
        #expect(failure?.kind == .nameLookup && failure?.isCertainlyNotSent == true)
      }
    }

    @Test func `a silent resolver leads to a connect time-out`() async throws {
      let transport = try EngineTransport(EngineConfiguration(), resolver: Silent())
      let failure = try await Self.failure(transport, "http://registry.test/", connect: .milliseconds(50))
      #expect(failure?.kind == .connectTimeout && failure?.isCertainlyNotSent == true)
    }

    @Test(arguments: ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
    func `the address policy checks the address, not its text`(host: String) async throws {
      let server = try LoopbackServer { _ in .ok() }
      var configuration = EngineConfiguration()
      configuration.addressPolicy = .publicOnly
      let failure = try await Self.failure(try EngineTransport(configuration), "http://\(host):\(server.port)/")
      #expect(failure?.kind == .forbiddenAddress && failure?.isCertainlyNotSent == true)
      #expect(failure?.description.contains("loopback") == true)
      #expect(server.connectionCount == 0)
    }

    @Test func `only the allowed addresses of several are used`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      var configuration = EngineConfiguration()
      configuration.addressPolicy = .only([.loopback])
      configuration.addressOverrides = ["a.test:\(server.port)": "192.0.2.1,10.0.0.1,127.0.0.1"]
      let transport = try EngineTransport(configuration)
      #expect(try await TransportConformance.get(transport, "http://a.test:\(server.port)/").text == "here")
    }

    @Test func `an address that refuses connections is skipped`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      var configuration = EngineConfiguration()
      // No server listens on the first two addresses, because the port is only used at 127.0.0.1.
      configuration.addressOverrides = ["a.test:\(server.port)": "127.0.0.2,127.0.0.3,127.0.0.1"]
      let transport = try EngineTransport(configuration)
      let response = try await TransportConformance.get(transport, "http://a.test:\(server.port)/")
      #expect(response.text == "here" && response.metrics.remoteAddress == "127.0.0.1")
    }

    @Test func `a connection that is never accepted leads to a connect time-out`() async throws {
      // A listener whose queue is full does not accept connections.
      let full = try FullListener()
      let begun = ContinuousClock.now
      let failure = try await Self.failure(EngineTransport(), full.url, connect: .milliseconds(200))
      #expect(failure?.kind == .connectTimeout && failure?.isCertainlyNotSent == true)
      #expect(ContinuousClock.now - begun >= .milliseconds(200))
    }

    @Test func `a silent address does not delay the other addresses for long`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      let full = try FullListener(address: "127.0.0.2", port: server.port)
      var configuration = EngineConfiguration()
      configuration.addressOverrides = ["a.test:\(server.port)": "127.0.0.2,127.0.0.1"]
      let transport = try EngineTransport(configuration)
      let response = try await TransportConformance.get(transport, "http://a.test:\(server.port)/")
      #expect(response.text == "here")
      #expect(try #require(response.metrics.connect) >= AddressRace.delay)
      withExtendedLifetime(full) {}
    }

    @Test func `requests go to a Unix domain socket`() async throws {
      let path = NSTemporaryDirectory() + "errand-\(UUID().uuidString.prefix(8)).sock"
      let server = try UnixServer(path)
      defer { unlink(path) }
      var configuration = EngineConfiguration()
      configuration.unixSocket = path
      let transport = try EngineTransport(configuration)
      for _ in 0..<3 {
        let response = try await TransportConformance.get(transport, "http://any.test/x")
        #expect(response.text == "ok" && response.metrics.remoteAddress == path)
        #expect(response.metrics.remotePort == nil)
      }
      #expect(server.connections == 1)
      configuration.unixSocket = path + "x"
      let failure = try await Self.failure(try EngineTransport(configuration), "http://any.test/")
      #expect(failure?.kind == .refused && failure?.isCertainlyNotSent == true)
      #expect(failure?.description.contains(path) == true)
    }

    @Test func `a full queue of a Unix socket is awaited`() async throws {
      let path = NSTemporaryDirectory() + "errand-\(UUID().uuidString.prefix(8)).sock"
      let server = try UnixServer(path, queue: 0, accepts: false)
      let waiting = server.connect()
      defer {
        close(waiting)
        unlink(path)
      }
      var configuration = EngineConfiguration()
      configuration.unixSocket = path
      let transport = try EngineTransport(configuration)
      let failure = try await Self.failure(transport, "http://any.test/", connect: .milliseconds(100))
      #expect(failure?.kind == .connectTimeout && failure?.isCertainlyNotSent == true)
      #expect(failure?.description.contains("from the queue of \(path)") == true)
      async let response = TransportConformance.get(transport, "http://any.test/")
      server.accept()
      #expect(try await response.text == "ok")
    }
  }
#endif
