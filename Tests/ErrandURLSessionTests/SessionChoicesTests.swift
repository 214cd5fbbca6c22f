import ErrandCore
import Testing

@testable import ErrandURLSession

/// The settings for Apple platforms, and the choice of a session for an exchange.
struct SessionChoicesTests {
  private static func choices(_ change: (inout URLSessionSettings) -> Void = { _ in }) -> SessionChoices {
    var settings = URLSessionSettings()
    change(&settings)
    return SessionChoices(settings)
  }

  private static func exchange(
    _ method: HTTPMethod = .get, waits: Bool = false, mayBeRepeated: Bool? = nil
  ) throws -> Exchange {
    let request = try HTTPRequest(method: method, url: "http://h.example/")
    var exchange = Exchange(request: request, network: NetworkWish(waitsForConnectivity: waits))
    exchange.handling.mayBeRepeated = mayBeRepeated
    return exchange
  }

  @Test func `defaults keep the platform's settings`() {
    #expect(Self.choices().minimumTLS == nil)
    #expect(Self.choices().proxy == nil)
    #expect(!Self.choices().waitsForConnectivity)
    #expect(SessionChoices(URLSessionSettings(), waits: true).waitsForConnectivity)
  }

  @Test func `TLS versions become protocol numbers`() {
    #expect(Self.choices { $0.minimumTLSVersion = .tls1_2 }.minimumTLS == 0x0303)
    #expect(Self.choices { $0.minimumTLSVersion = .tls1_3 }.minimumTLS == 0x0304)
  }

  @Test func `the proxy becomes a dictionary`() {
    #expect(Self.choices { $0.proxy = .none }.proxy == [:])
    #expect(
      Self.choices { $0.proxy = .host("p.example", port: 3128) }.proxy == [
        "HTTPEnable": 1, "HTTPProxy": "p.example", "HTTPPort": 3128,
        "HTTPSEnable": 1, "HTTPSProxy": "p.example", "HTTPSPort": 3128,
      ])
  }

  @Test func `waiting exchanges share a session`() throws {
    let transport = URLSessionTransport(try SessionSetup(URLSessionSettings(), .apple))
    let usual = transport.holder(for: try Self.exchange())
    let waiting = transport.holder(for: try Self.exchange(waits: true))
    #expect(!usual.waits)
    #expect(waiting.waits)
    #expect(transport.holder(for: try Self.exchange(waits: true)) === waiting)
    #expect(transport.holder(for: try Self.exchange(.post)) === usual)
  }

  @Test func `Linux never waits for connectivity`() throws {
    let transport = URLSessionTransport(try SessionSetup(URLSessionSettings(), .linux))
    #expect(try !transport.holder(for: Self.exchange(waits: true)).waits)
  }

  @Test func `a non-repeatable request gets its own session`() throws {
    let transport = URLSessionTransport(try SessionSetup(URLSessionSettings(), .linux))
    let usual = transport.holder(for: try Self.exchange())
    #expect(transport.holder(for: try Self.exchange(.post)) !== usual)
    #expect(transport.holder(for: try Self.exchange(.post, mayBeRepeated: true)) === usual)
    #expect(transport.holder(for: try Self.exchange(.get, mayBeRepeated: false)) !== usual)
  }

  @Test func `Apple platforms resend idempotent requests`() throws {
    let transport = URLSessionTransport(try SessionSetup(URLSessionSettings(), .apple))
    let usual = transport.holder(for: try Self.exchange())
    for method in [HTTPMethod.get, .head, .put, .delete, .options] {
      #expect(transport.holder(for: try Self.exchange(method, mayBeRepeated: false)) !== usual)
      #expect(transport.holder(for: try Self.exchange(method, mayBeRepeated: true)) === usual)
    }
    for method in [HTTPMethod.post, .patch] {
      #expect(transport.holder(for: try Self.exchange(method, mayBeRepeated: false)) === usual)
    }
    #expect(transport.holder(for: try Self.exchange(.get, waits: true, mayBeRepeated: false)).waits)
  }

  @Test(arguments: [HTTPMethod.get, .post])
  func `a platform may resend nothing`(method: HTTPMethod) {
    #expect(!SessionPlatform.Resending.none.includes(method))
  }
}
