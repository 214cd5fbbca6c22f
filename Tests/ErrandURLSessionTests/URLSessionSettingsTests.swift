import ErrandCore
import Testing

@testable import ErrandURLSession

struct URLSessionSettingsTests {
  private static func refusal(_ platform: SessionPlatform, _ change: (inout URLSessionSettings) -> Void) -> String? {
    var settings = URLSessionSettings()
    change(&settings)
    do {
      try settings.validate(on: platform)
      return nil
    } catch {
      return error.description
    }
  }

  private static func ignored(_ name: String, default rest: String) -> String {
    "URLSession ignores `\(name)` on Linux; keep the default (\(rest)), or use the engine or the libcurl transport."
  }

  @Test func `Linux rejects settings it ignores`() {
    #expect(Self.refusal(.linux) { $0.proxy = .none } == Self.ignored("proxy", default: "`.platform`"))
    #expect(
      Self.refusal(.linux) { $0.minimumTLSVersion = .tls1_3 } == Self.ignored("minimumTLSVersion", default: "nil"))
    #expect(
      Self.refusal(.linux) { $0.certificateAuthority = .file(path: "/ca.pem") }
        == Self.ignored("certificateAuthority", default: "`.system`"))
    #expect(
      Self.refusal(.linux) { $0.pins = [PublicKeyPins(host: "h.example", sha256: [])] }
        == Self.ignored("pins", default: "none"))
    #expect(
      Self.refusal(.linux) { $0.clientCertificates = [.pkcs12(.file(path: "/me.p12"))] }
        == Self.ignored("clientCertificates", default: "none"))
    #expect(Self.refusal(.linux) { $0.connectionsPerHost = 2 } == nil)
  }

  @Test func `Apple platforms accept all settings`() {
    #expect(Self.refusal(.apple) { $0.proxy = .none } == nil)
    #expect(Self.refusal(.apple) { $0.proxy = .host("proxy.example", port: 3128) } == nil)
    #expect(Self.refusal(.apple) { $0.minimumTLSVersion = .tls1_2 } == nil)
  }

  @Test func `invalid settings are rejected everywhere`() {
    let number = "`connectionsPerHost` must be a number from 1 to 1000."
    #expect(Self.refusal(.apple) { $0.connectionsPerHost = 0 } == number)
    #expect(Self.refusal(.linux) { $0.connectionsPerHost = 1_001 } == number)
    let proxy = "`proxy` must have a host without scheme and user, and a port from 1 to 65535."
    for (host, port) in [("http://p.example", 1), ("", 1), ("a@p.example", 1), ("p.example", 0), ("p.example", 65_536)]
    {
      #expect(Self.refusal(.apple) { $0.proxy = .host(host, port: port) } == proxy)
    }
  }

  @Test func `a rejected change has no effect`() throws {
    let transport = URLSessionTransport()
    var settings = transport.settings
    settings.connectionsPerHost = 0
    #expect(throws: URLSessionSettings.Invalid.self) { try transport.update(settings) }
    #expect(throws: URLSessionSettings.Invalid.self) { try URLSessionTransport(settings) }
    #expect(transport.settings == URLSessionSettings())
    settings.connectionsPerHost = 3
    try transport.update(settings)
    #expect(transport.settings.connectionsPerHost == 3)
  }

  @Test func `platforms declare their capabilities`() {
    #expect(SessionPlatform.linux.capabilities.description == "progress, observesStop, bodySource")
    #expect(
      SessionPlatform.apple.capabilities.description
        == "bodySink, http2, proxy, metrics, progress, observesStop, networkKind, bodySource")
    #expect(URLSessionTransport().capabilities == SessionPlatform.current.capabilities)
  }
}
