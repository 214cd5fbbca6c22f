import Errand
import ErrandCurl
import ErrandEngine
import ErrandHTTP
import Foundation
import Testing

@Suite(.serialized) struct ClientCertificateTests {
  static let doors = ["ERRAND_DOOR_CLIENT", "ERRAND_DOOR_CLIENT_12"]
  static let passphrase = "opensesame"

  /// Every form in which the same certificate can be given.
  static func forms() throws -> [ClientCertificate] {
    let certificate = CertificateSource.file(path: try TrustFixture.path("client.pem"))
    return [
      .pem(certificate: certificate, key: .file(path: try TrustFixture.path("client.key"))),
      .pem(
        certificate: certificate, key: .file(path: try TrustFixture.path("client-locked.key")), passphrase: passphrase),
      .pem(certificate: .file(path: try TrustFixture.path("client-whole.pem")), passphrase: passphrase),
      .pem(certificate: .data(try TrustFixture.data("client.pem")), key: .data(try TrustFixture.data("client.key"))),
      .pkcs12(.file(path: try TrustFixture.path("client.p12")), passphrase: passphrase),
      .pkcs12(.data(try TrustFixture.data("client.p12")), passphrase: passphrase, hosts: ["localhost"]),
    ]
  }

  @Test(arguments: doors, TrustCarrier.allCases)
  func `client certificate is accepted`(door: String, carrier: TrustCarrier) async throws {
    for form in try Self.forms() {
      let client = try TrustFixture.client(door, carrier) { $0.clientCertificates = [form] }
      #expect(try await client.send(Inquiry("/"))["client"]?.stringValue == "Errand test client", "\(form)")
    }
  }

  @Test(arguments: doors, TrustCarrier.allCases)
  func `missing client certificate is reported`(door: String, carrier: TrustCarrier) async throws {
    for _ in 0..<20 {
      let error = try await failure(TrustFixture.client(door, carrier), Inquiry("/"))
      #expect(error.transportKind == .clientCertificateRequired, "\(error)")
      #expect(error.message.contains("`clientCertificates`"))
    }
  }

  @Test(arguments: doors, TrustCarrier.allCases)
  func `upload without client certificate is reported`(door: String, carrier: TrustCarrier) async throws {
    let upload = Inquiry("/") {
      $0.method = .put
      $0.body = .bytes(Data(repeating: 7, count: 1 << 20))
    }
    for _ in 0..<20 {
      let error = try await failure(TrustFixture.client(door, carrier), upload)
      #expect(error.transportKind == .clientCertificateRequired, "\(error)")
    }
  }

  @Test(arguments: doors, TrustCarrier.allCases)
  func `untrusted client certificate is refused`(door: String, carrier: TrustCarrier) async throws {
    let stranger = ClientCertificate.pem(
      certificate: .file(path: try TrustFixture.path("stranger.pem")),
      key: .file(path: try TrustFixture.path("stranger.key")))
    let client = try TrustFixture.client(door, carrier) { $0.clientCertificates = [stranger] }
    var error = try await failure(client, Inquiry("/"))
    // The server resets the connection after its alert, and the reset may arrive before the alert.
    for _ in 1...4 where error.transportKind == .closedBeforeResponse {
      error = try await failure(client, Inquiry("/"))
    }
    #expect(error.transportKind == .clientCertificateRefused, "\(error)")
  }

  @Test(arguments: TrustCarrier.allCases)
  func `certificate is sent only to its hosts`(carrier: TrustCarrier) async throws {
    let port = try TrustFixture.port("ERRAND_DOOR_CLIENT")
    var certificate = try #require(try Self.forms().first)
    certificate.hosts = ["localhost"]
    let transport = try TrustFixture.transport(carrier) { $0.clientCertificates = [certificate] }
    for _ in 0..<2 {
      let answer = try await TrustFixture.client("https://localhost:\(port)", transport).send(Inquiry("/"))
      #expect(answer["client"]?.stringValue == "Errand test client")
      let error = try await failure(TrustFixture.client("https://127.0.0.1:\(port)", transport), Inquiry("/"))
      #expect(error.transportKind == .clientCertificateRequired)
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `server that does not ask gets no certificate`(carrier: TrustCarrier) async throws {
    let form = try #require(try Self.forms().first)
    let client = try TrustFixture.client("ERRAND_DOOR_TLS", carrier) { $0.clientCertificates = [form] }
    #expect(try await client.send(Inquiry("/"))["client"] == .null)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `unusable certificates are refused`(carrier: TrustCarrier) throws {
    let certificate = CertificateSource.file(path: try TrustFixture.path("client.pem"))
    let locked = CertificateSource.file(path: try TrustFixture.path("client-locked.key"))
    let p12 = CertificateSource.file(path: try TrustFixture.path("client.p12"))
    let otherKey = CertificateSource.file(path: try TrustFixture.path("server.key"))
    let weak = CertificateSource.file(path: try TrustFixture.path("weak.pem"))
    let weakKey = CertificateSource.file(path: try TrustFixture.path("weak.key"))
    let rows: [(ClientCertificate, String)] = [
      (.pem(certificate: certificate, key: locked, passphrase: "wrong-phrase"), "check the passphrase"),
      (.pem(certificate: certificate, key: locked), "set `passphrase`"),
      (.pem(certificate: certificate, key: otherKey), "belongs to another certificate"),
      (.pem(certificate: certificate), "cannot be read"),
      (.pem(certificate: locked, key: locked, passphrase: Self.passphrase), "holds no certificate"),
      (.pem(certificate: .file(path: "no/such/file"), key: locked), "cannot be read"),
      (.pem(certificate: .data(Data()), key: locked), "is empty"),
      (.pkcs12(p12, passphrase: "wrong-phrase"), "check the passphrase"),
      (.pkcs12(p12), "set `passphrase`"),
      (.pkcs12(certificate, passphrase: Self.passphrase), "holds no certificate in PKCS #12"),
      (.pem(certificate: certificate, key: otherKey, hosts: []), "must be like"),
      (.pem(certificate: weak, key: weakKey), "is too weak"),
    ]
    for (unusable, words) in rows {
      let refusal = try TrustFixture.refusal(carrier) { $0.clientCertificates = [unusable] }
      #expect(refusal?.contains(words) == true, "\(unusable): \(refusal ?? "accepted")")
      #expect(refusal?.contains("wrong-phrase") != true && refusal?.contains(Self.passphrase) != true)
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `old encryption is not blamed on the passphrase`(carrier: TrustCarrier) throws {
    let certificate = CertificateSource.file(path: try TrustFixture.path("client.pem"))
    let key = CertificateSource.file(path: try TrustFixture.path("client-old.key"))
    let p12 = CertificateSource.file(path: try TrustFixture.path("client-old.p12"))
    let rows: [(ClientCertificate, String)] = [
      (.pkcs12(p12, passphrase: Self.passphrase), "export it again with `openssl pkcs12 -export`"),
      (.pem(certificate: certificate, key: key, passphrase: Self.passphrase), "encrypt it again with `openssl pkey"),
    ]
    for (old, cure) in rows {
      let refusal = try TrustFixture.refusal(carrier) { $0.clientCertificates = [old] } ?? "accepted"
      #expect(refusal.contains("no longer supports the encryption") && refusal.contains(cure), "\(refusal)")
      #expect(!refusal.contains("check the passphrase") && !refusal.contains(Self.passphrase))
    }
    // A wrong passphrase is found first, by the file's checksum.
    let wrong = try TrustFixture.refusal(carrier) {
      $0.clientCertificates = [.pkcs12(p12, passphrase: "wrong-phrase")]
    }
    #expect(wrong?.contains("check the passphrase") == true, "\(wrong ?? "accepted")")
  }

  @Test(arguments: TrustCarrier.allCases)
  func `damaged certificate of a chain is named`(carrier: TrustCarrier) throws {
    let (own, authority) = (try TrustFixture.data("client.pem"), try TrustFixture.data("ca.pem"))
    let (damagedOwn, damaged) = (try TrustFixture.damaged("client.pem"), try TrustFixture.damaged("ca.pem"))
    let key = CertificateSource.file(path: try TrustFixture.path("client.key"))
    let rows: [(Data, Int?)] = [
      (own + authority, nil), (damagedOwn + authority, 1), (own + damaged, 2), (own + authority + damaged, 3),
    ]
    for (chain, number) in rows {
      let refusal = try TrustFixture.refusal(carrier) {
        $0.clientCertificates = [.pem(certificate: .data(chain), key: key)]
      }
      guard let number else {
        #expect(refusal == nil)
        continue
      }
      #expect(refusal?.contains("is damaged at certificate \(number);") == true, "\(refusal ?? "accepted")")
    }
  }

  @Test func `descriptions contain no secret`() async throws {
    let key = try #require(String(data: TrustFixture.data("client.key"), encoding: .utf8))
    let line = try #require(key.split(separator: "\n").dropFirst().first)
    for form in try Self.forms() {
      var (curl, engine) = (CurlConfiguration(), EngineConfiguration())
      curl.clientCertificates = [form]
      engine.clientCertificates = [form]
      var dumped = ""
      dump(curl, to: &dumped)
      dump(engine, to: &dumped)
      for text in ["\(curl)", "\(engine)", "\(form)", String(reflecting: form), dumped] {
        #expect(!text.contains(Self.passphrase))
        #expect(!text.contains(line))
      }
    }
  }
}
