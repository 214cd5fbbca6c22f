import ErrandCore
import Foundation
import Testing

@testable import ErrandURLSession

/// The answers to URLSession's challenges, for each row of the decision table.
struct SessionTrustTests {
  private typealias Fake = FakeChallenge

  private static func trust(
    canRead: Bool = true, _ change: (inout URLSessionSettings) -> Void = { _ in }
  ) throws -> SessionTrust {
    var settings = URLSessionSettings()
    change(&settings)
    return try SessionTrust(settings) { _ in canRead }
  }

  private static func answer(
    to challenge: FakeChallenge, _ change: (inout URLSessionSettings) -> Void = { _ in }
  ) throws -> SessionTrust.Answer {
    try trust(change).answer(to: challenge, for: HTTPURL("https://h.example/").origin)
  }

  private static func failure(_ answer: SessionTrust.Answer) -> TransportFailure? {
    if case .refuse(let failure) = answer { failure } else { nil }
  }

  private static func refusal(
    canRead: Bool = true, _ change: (inout URLSessionSettings) -> Void
  ) throws -> String? {
    do {
      _ = try trust(canRead: canRead, change)
      return nil
    } catch let error as URLSessionSettings.Invalid {
      return error.description
    }
  }

  private static func pins(_ host: String, _ keys: String...) -> [PublicKeyPins] {
    [PublicKeyPins(host: host, sha256: keys)]
  }

  private static func certificate(_ byte: UInt8, hosts: [String]? = nil) -> ClientCertificate {
    .pkcs12(.data(Data([byte])), passphrase: "secret", hosts: hosts)
  }

  // MARK: - Trust of the server

  @Test func `a trusted server needs no own decision`() throws {
    #expect(try Self.answer(to: Fake()) == .platform)
    #expect(SessionTrust.standard.answer(to: Fake(), for: try HTTPURL("https://h.example/").origin) == .platform)
    #expect(try Self.answer(to: Fake(kind: .other)) == .platform)
  }

  @Test(arguments: [
    (-67_818, TransportFailure.Kind.certificateExpired), (-67_819, .certificateNotYetValid), (-67_602, .wrongHost),
    (-67_843, .unknownAuthority), (-25_318, .unknownAuthority), (-67_612, .unknownAuthority),
    (-67_826, .unknownAuthority), (-67_820, .tls), (0, .tls),
  ])
  func `the platform's error becomes a kind`(code: Int, kind: TransportFailure.Kind) throws {
    let verdict = SessionVerdict.refused(code: code, words: "no")
    let failure = Self.failure(try Self.answer(to: Fake(verdict: verdict)))
    #expect(failure?.kind == kind)
    #expect(failure?.isCertainlyNotSent == true)
    #expect(failure?.description.contains("https://h.example") == true)
    #expect(failure?.description.hasSuffix("(no; OSStatus \(code)).") == true)
    let pinned = try Self.answer(to: Fake(verdict: verdict)) {
      $0.pins = Self.pins("h.example", Fake.pin, Fake.sparePin)
    }
    #expect(Self.failure(pinned)?.kind == kind)
  }

  @Test func `a self-signed certificate is reported`() throws {
    let challenge = Fake(certificate: Fake.authority, verdict: .refused(code: -67_843, words: ""))
    let failure = Self.failure(try Self.answer(to: challenge))
    #expect(failure?.kind == .certificateSelfSigned)
    // The cure between them depends on the platform; see `SessionFailureTests`.
    #expect(failure?.description.hasPrefix("The certificate of https://h.example is self-signed; ") == true)
    #expect(failure?.description.hasSuffix(" (OSStatus -67843).") == true)
  }

  @Test(arguments: ["h.example", ".example", "H.Example"])
  func `a pinned key is accepted`(host: String) throws {
    #expect(try Self.answer(to: Fake()) { $0.pins = Self.pins(host, Fake.sparePin, Fake.pin) } == .platform)
  }

  @Test func `a trusted server with another key is rejected`() throws {
    let strange = Data(repeating: 7, count: 32).base64EncodedString()
    let answer = try Self.answer(to: Fake()) { $0.pins = Self.pins("h.example", strange, Fake.sparePin) }
    #expect(
      answer
        == .refuse(
          TransportFailure(
            .pinMismatch,
            "The public key of https://h.example is not among its pins; add the pin of the new key if the server's"
              + " owner confirms the new key.", isCertainlyNotSent: true)))
    let others = try Self.answer(to: Fake()) { $0.pins = Self.pins("other.example", strange, Fake.sparePin) }
    #expect(others == .platform)
  }

  @Test func `the most specific pins apply`() throws {
    let strange = Data(repeating: 7, count: 32).base64EncodedString()
    let answer = try Self.answer(to: Fake()) {
      $0.pins = Self.pins(".example", strange, Fake.sparePin) + Self.pins("h.example", Fake.pin, Fake.sparePin)
    }
    #expect(answer == .platform)
  }

  @Test(arguments: [nil, Data(), Data("no certificate".utf8)])
  func `an unreadable key matches no pin`(certificate: Data?) throws {
    let answer = try Self.answer(to: Fake(certificate: certificate)) {
      $0.pins = Self.pins("h.example", Fake.pin, Fake.sparePin)
    }
    #expect(Self.failure(answer)?.kind == .pinMismatch)
  }

  @Test func `only the given authority is trusted`() throws {
    let unknown = SessionVerdict.refused(code: -67_843, words: "")
    let pem = Fake.pem(Fake.authority)
    let known = Fake(verdict: unknown, ownVerdict: .trusted)
    #expect(try Self.answer(to: known) { $0.certificateAuthority = .certificates(pem) } == .trust)
    #expect(Self.failure(try Self.answer(to: known))?.kind == .unknownAuthority)
    let systems = Fake(verdict: .trusted, ownVerdict: unknown)
    let answer = try Self.answer(to: systems) { $0.certificateAuthority = .certificates(pem) }
    #expect(Self.failure(answer)?.kind == .unknownAuthority)
  }

  @Test func `pins apply with a given authority`() throws {
    let strange = Data(repeating: 7, count: 32).base64EncodedString()
    let challenge = Fake(ownVerdict: .trusted)
    for (keys, passes) in [([Fake.pin, Fake.sparePin], true), ([strange, Fake.sparePin], false)] {
      let answer = try Self.answer(to: challenge) {
        $0.certificateAuthority = .certificates(Fake.pem(Fake.authority))
        $0.pins = [PublicKeyPins(host: "h.example", sha256: keys)]
      }
      #expect(passes ? answer == .trust : Self.failure(answer)?.kind == .pinMismatch)
    }
  }

  @Test func `a trailing dot changes nothing`() throws {
    let strange = Data(repeating: 7, count: 32).base64EncodedString()
    for (host, pinned) in [("h.example.", "h.example"), ("h.example", "h.example")] {
      let answer = try Self.answer(to: Fake(host: host)) { $0.pins = Self.pins(pinned, strange, Fake.sparePin) }
      #expect(Self.failure(answer)?.kind == .pinMismatch)
    }
  }

  @Test func `IPv6 addresses match in brackets`() throws {
    let answer = try Self.answer(to: Fake(host: "2001:DB8::1")) {
      $0.pins = Self.pins("[2001:db8::1]", Fake.sparePin, Data(count: 32).base64EncodedString())
    }
    #expect(Self.failure(answer)?.kind == .pinMismatch)
  }

  // MARK: - Client certificates

  @Test func `the first matching client certificate is used`() throws {
    let challenge = Fake(kind: .clientCertificate)
    let answer = try Self.answer(to: challenge) {
      $0.clientCertificates = [
        Self.certificate(1, hosts: ["other.example"]), Self.certificate(2, hosts: [".example"]), Self.certificate(3),
      ]
    }
    #expect(answer == .show(SessionIdentity(pkcs12: Data([2]), passphrase: "secret")))
    let every = try Self.answer(to: challenge) { $0.clientCertificates = [Self.certificate(3)] }
    #expect(every == .show(SessionIdentity(pkcs12: Data([3]), passphrase: "secret")))
  }

  @Test func `no client certificate for other hosts`() throws {
    let challenge = Fake(kind: .clientCertificate)
    #expect(try Self.answer(to: challenge) == .platform)
    let answer = try Self.answer(to: challenge) {
      $0.clientCertificates = [Self.certificate(1, hosts: ["other.example"])]
    }
    #expect(answer == .platform)
  }

  // MARK: - Settings

  @Test func `unusable trust settings are rejected`() throws {
    #expect(
      try Self.refusal { $0.pins = Self.pins("h.example", Fake.pin) }
        == "The pins of h.example need at least two different keys, one of them in reserve.")
    #expect(
      try Self.refusal { $0.certificateAuthority = .file(path: "/nowhere/ca.pem") }
        == "The certificate authority (file /nowhere/ca.pem) cannot be read; give the path of a PEM file.")
    for data in [Data(), Data("x".utf8), Fake.authority, Fake.pem(Data("no certificate".utf8))] {
      #expect(
        try Self.refusal { $0.certificateAuthority = .certificates(data) }
          == "The certificate authority (\(data.count) bytes) holds no certificate; give certificates in PEM.")
    }
  }

  @Test func `unusable client certificates are rejected`() throws {
    let form = "with a passphrase; make one with `openssl pkcs12 -export`."
    for certificate in [ClientCertificate.pem(certificate: .data(Data([1]))), .pkcs12(.data(Data([1])))] {
      #expect(try Self.refusal { $0.clientCertificates = [certificate] }?.hasSuffix(form) == true)
    }
    #expect(
      try Self.refusal(canRead: false) { $0.clientCertificates = [Self.certificate(1)] }
        == "The key of the client certificate (PKCS #12 of 1 bytes with a passphrase for every host) cannot be read;"
        + " check the passphrase.")
    #expect(
      try Self.refusal { $0.clientCertificates = [.pkcs12(.file(path: "/nowhere/me.p12"), passphrase: "secret")] }
        == "The client certificate's PKCS #12 file (file /nowhere/me.p12) cannot be read; check path and permissions.")
    #expect(try Self.refusal { $0.clientCertificates = [Self.certificate(1, hosts: [])] }?.contains("hosts") == true)
  }

  @Test func `changed trust gets a new session`() throws {
    let transport = URLSessionTransport(try SessionSetup(URLSessionSettings(), .apple))
    let exchange = Exchange(request: try HTTPRequest(url: "https://h.example/"))
    let first = transport.holder(for: exchange)
    var settings = transport.settings
    try transport.update(settings)
    #expect(transport.holder(for: exchange) === first)
    settings.pins = Self.pins("h.example", Fake.pin, Fake.sparePin)
    try transport.update(settings)
    let second = transport.holder(for: exchange)
    #expect(second !== first)
    try transport.reload()
    #expect(transport.holder(for: exchange) !== second)
    #expect(transport.settings == settings)
    settings.certificateAuthority = .file(path: "/nowhere/ca.pem")
    #expect(throws: URLSessionSettings.Invalid.self) { try transport.update(settings) }
    #expect(transport.settings != settings)
  }
}
