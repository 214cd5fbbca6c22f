import Errand
import ErrandCurl
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

struct ResolverTests {
  private struct Failing: NameResolver {
    struct Reason: Error {}
    func addresses(of host: String, port: Int) async throws -> [String] { throw Reason() }
  }

  /// Waits until it is cancelled.
  private struct Silent: NameResolver {
    let never = Latch()
    let isCancelled = Latch()
    func addresses(of host: String, port: Int) async throws -> [String] {
      do { try await never.wait() } catch { isCancelled.open() }
      return []
    }
  }

  /// A resolver with one list of addresses for each host.
  private struct Table: NameResolver {
    let addresses: [String: [String]]
    func addresses(of host: String, port: Int) async throws -> [String] { addresses[host] ?? [] }
  }

  private func client(_ base: String, _ resolver: any NameResolver) throws -> APIClient {
    TrustFixture.client(base, try CurlTransport(CurlConfiguration(), resolver: resolver))
  }

  @Test func `resolver's address is used`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let resolver = SteppingResolver(["127.0.0.1"])
    let client = try client("http://api.example:\(server.port)", resolver)
    #expect(try await client.response(BytesProbe(path: "/")).status == 200)
    #expect(try await client.response(BytesProbe(path: "/")).status == 200)
    #expect(resolver.asked == ["api.example:\(server.port)", "api.example:\(server.port)"])
    #expect(server.requests.first?.headers["Host"] == "api.example:\(server.port)")
  }

  @Test func `override is case-insensitive`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let resolver = SteppingResolver(["127.0.0.9"])
    var configuration = CurlConfiguration()
    configuration.addressOverrides = ["API.example:\(server.port)": "127.0.0.1"]
    let client = TrustFixture.client(
      "http://api.example:\(server.port)", try CurlTransport(configuration, resolver: resolver))
    #expect(try await client.response(BytesProbe(path: "/")).status == 200)
    #expect(resolver.asked.isEmpty)
  }

  @Test func `all addresses are tried`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let client = try client("http://api.example:\(server.port)", SteppingResolver(["127.0.0.2", "::1", "127.0.0.1"]))
    #expect(try await client.response(BytesProbe(path: "/")).status == 200)
  }

  @Test func `new addresses replace old ones`() async throws {
    let (first, second) = (try LoopbackServer { _ in .ok("first") }, try LoopbackServer { _ in .ok("second") })
    let resolver = Table(addresses: ["one.example": ["127.0.0.1"], "two.example": ["127.0.0.1"]])
    let transport = try CurlTransport(CurlConfiguration(), resolver: resolver)
    for _ in 0..<2 {
      for (host, server, text) in [("one.example", first, "first"), ("two.example", second, "second")] {
        let client = TrustFixture.client("http://\(host):\(server.port)", transport)
        #expect(try await client.send(TextProbe(path: "/")) == text)
      }
    }
    // The addresses of one host are not used for another.
    let error = try await failure(
      TrustFixture.client("http://three.example:\(first.port)", transport), TextProbe(path: "/"))
    #expect(error.transportKind == .nameLookup)
  }

  @Test func `failure of the resolver is reported`() async throws {
    for (resolver, words) in [
      (Failing() as any NameResolver, "Reason"), (SteppingResolver([]), "no address"),
      (SteppingResolver(["localhost"]), "invalid IP address"),
      (SteppingResolver(["127.0.0.1,10.0.0.1"]), "invalid IP address"), (SteppingResolver([""]), "invalid IP address"),
    ] {
      let error = try await failure(client("http://api.example", resolver), BytesProbe(path: "/"))
      #expect(error.transportKind == .nameLookup)
      #expect(error.message.contains(words), "\(error)")
      #expect(error.message.contains("api.example"))
    }
  }

  @Test func `cancel ends the name lookup`() async throws {
    let resolver = Silent()
    let client = try client("http://api.example", resolver)
    let task = Task { await client.outcome(of: BytesProbe(path: "/"), options: .tag("waiting")) }
    await resolver.never.reached()
    client.cancel(tag: "waiting")
    #expect(await task.value.error?.isCancelled == true)
    await resolver.isCancelled.waitStubbornly()
  }

  @Test func `deadline ends the name lookup`() async throws {
    let (resolver, clock) = (Silent(), ManualClock())
    let client = try client("http://api.example", resolver)
    client.configure { $0.timers = clock }
    async let outcome = client.outcome(of: BytesProbe(path: "/"), options: .deadline(.milliseconds(50)))
    await resolver.never.reached()
    clock.advance(by: .milliseconds(50))
    #expect(await outcome.error?.stage == .deadline)
    await resolver.isCancelled.waitStubbornly()
  }

  @Test func `connect time-out ends the name lookup`() async throws {
    let (resolver, clock) = (Silent(), ManualClock())
    let client = try client("http://api.example", resolver)
    client.configure {
      $0.timers = clock
      $0.timeouts = Timeouts(connect: .milliseconds(100), total: .never)
    }
    async let outcome = client.outcome(of: BytesProbe(path: "/"))
    await resolver.never.reached()
    clock.advance(by: .milliseconds(100))
    #expect(await outcome.error?.transportKind == .connectTimeout)
    await resolver.isCancelled.waitStubbornly()
  }

  @Test func `numeric or overridden host skips the resolver`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let resolver = SteppingResolver(["10.0.0.1"])
    var configuration = CurlConfiguration()
    configuration.addressOverrides = ["known.example:\(server.port)": "127.0.0.1"]
    let transport = try CurlTransport(configuration, resolver: resolver)
    for host in ["127.0.0.1", "known.example"] {
      let client = TrustFixture.client("http://\(host):\(server.port)", transport)
      #expect(try await client.response(BytesProbe(path: "/")).status == 200)
    }
    #expect(resolver.asked.isEmpty)
  }
}
