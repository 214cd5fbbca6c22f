import Errand
import ErrandHTTP
import Foundation
import Testing

@Suite(.serialized) struct PinTests {
  private func pins(_ host: String, _ keys: String...) -> [PublicKeyPins] { [PublicKeyPins(host: host, sha256: keys)] }

  @Test(arguments: TrustCarrier.allCases)
  func `pinned key is accepted`(carrier: TrustCarrier) async throws {
    let pin = try TrustFixture.pin("server")
    for variable in ["ERRAND_NGINX_TLS", "ERRAND_DOOR_TLS"] {
      let client = try TrustFixture.client(variable, carrier) {
        $0.pins = pins("localhost", pin, TrustFixture.sparePin)
      }
      #expect(try await client.response(BytesProbe(path: "/200b")).status == 200)
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `spare pin is sufficient`(carrier: TrustCarrier) async throws {
    let pin = try TrustFixture.pin("server")
    let client = try TrustFixture.client("ERRAND_NGINX_TLS", carrier) {
      $0.pins = pins("localhost", TrustFixture.sparePin, pin)
    }
    #expect(try await client.send(BytesProbe(path: "/200b")).count == 200)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `unpinned key is refused`(carrier: TrustCarrier) async throws {
    let client = try TrustFixture.client("ERRAND_NGINX_TLS", carrier) {
      $0.pins = pins("localhost", TrustFixture.strangePin, TrustFixture.sparePin)
    }
    let error = try await failure(client, BytesProbe(path: "/200b"))
    #expect(error.transportKind == .pinMismatch)
    #expect(error.message.contains("localhost"))
    #expect((error.cause as? TransportFailure)?.isCertainlyNotSent == true)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `pin of the authority's key is refused`(carrier: TrustCarrier) async throws {
    let pin = try TrustFixture.pin("ca")
    let client = try TrustFixture.client("ERRAND_NGINX_TLS", carrier) {
      $0.pins = pins("localhost", pin, TrustFixture.sparePin)
    }
    #expect(try await failure(client, BytesProbe(path: "/200b")).transportKind == .pinMismatch)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `pin does not replace certificate validation`(carrier: TrustCarrier) async throws {
    let rows: [(String, String, TransportFailure.Kind)] = [
      ("ERRAND_NGINX_WRONG_HOST", "wrong-host", .wrongHost), ("ERRAND_NGINX_EXPIRED", "expired", .certificateExpired),
      ("ERRAND_NGINX_SELF_SIGNED", "self-signed", .certificateSelfSigned),
    ]
    for (variable, name, kind) in rows {
      let pin = try TrustFixture.pin(name)
      let client = try TrustFixture.client(variable, carrier) {
        $0.pins = pins("localhost", pin, TrustFixture.sparePin)
      }
      #expect(try await failure(client, BytesProbe(path: "/200b")).transportKind == kind)
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `pins apply after a redirect`(carrier: TrustCarrier) async throws {
    let port = try TrustFixture.port("ERRAND_DOOR_TLS")
    let request = Inquiry("/to") { $0.arguments = ["url": "https://localhost:\(port)/there"] }
    let strange = try TrustFixture.transport(carrier) {
      $0.pins = pins("localhost", TrustFixture.strangePin, TrustFixture.sparePin)
    }
    let refused = try await failure(TrustFixture.client("https://127.0.0.1:\(port)", strange), request)
    #expect(refused.transportKind == .pinMismatch)
    let pin = try TrustFixture.pin("server")
    let known = try TrustFixture.transport(carrier) { $0.pins = pins("localhost", pin, TrustFixture.sparePin) }
    let answer = try await TrustFixture.client("https://127.0.0.1:\(port)", known).send(request)
    #expect(answer["path"]?.stringValue == "/there")
  }

  @Test(arguments: TrustCarrier.allCases)
  func `pins apply only to their hosts`(carrier: TrustCarrier) async throws {
    let port = try TrustFixture.port("ERRAND_DOOR_TLS")
    let transport = try TrustFixture.transport(carrier) {
      $0.pins = pins("localhost", TrustFixture.strangePin, TrustFixture.sparePin)
    }
    for _ in 0..<2 {
      #expect(try await TrustFixture.client("https://127.0.0.1:\(port)", transport).send(Inquiry("/"))["path"] == "/")
      let error = try await failure(TrustFixture.client("https://localhost:\(port)", transport), Inquiry("/"))
      #expect(error.transportKind == .pinMismatch)
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `trailing dot in host keeps pins`(carrier: TrustCarrier) async throws {
    let port = try TrustFixture.port("ERRAND_DOOR_TLS")
    let transport = try TrustFixture.transport(carrier) {
      $0.pins = pins("localhost", TrustFixture.strangePin, TrustFixture.sparePin)
      $0.addressOverrides = ["localhost.:\(port)": "127.0.0.1"]
    }
    let error = try await failure(TrustFixture.client("https://localhost.:\(port)", transport), Inquiry("/"))
    #expect(error.transportKind == .pinMismatch)
  }

  @Test(arguments: [
    ("api.example.com", [], "two different keys"), ("api.example.com", [TrustFixture.sparePin], "two different keys"),
    ("api.example.com", [TrustFixture.sparePin, TrustFixture.sparePin], "two different keys"),
    ("api.example.com", [TrustFixture.sparePin, "AAAA"], "44 characters"),
    ("api.example.com", [TrustFixture.sparePin, "sha256//" + TrustFixture.strangePin], "44 characters"),
    // Both pins decode to 32 zero bytes, but only the first is their Base64 text.
    (
      "api.example.com",
      ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB="], "Base64"
    ),
    ("https://api.example.com", [TrustFixture.sparePin, TrustFixture.strangePin], "is not a host"),
    ("*.example.com", [TrustFixture.sparePin, TrustFixture.strangePin], "is not a host"),
    ("", [TrustFixture.sparePin, TrustFixture.strangePin], "is not a host"),
  ])
  func `unusable pins are refused`(host: String, keys: [String], words: String) throws {
    for carrier in TrustCarrier.allCases {
      let refusal = try TrustFixture.refusal(carrier) { $0.pins = [PublicKeyPins(host: host, sha256: keys)] }
      #expect(refusal?.contains(words) == true, "\(refusal ?? "accepted")")
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `most specific pins apply`(carrier: TrustCarrier) async throws {
    let pin = try TrustFixture.pin("server")
    let port = try TrustFixture.port("ERRAND_DOOR_TLS")
    let transport = try TrustFixture.transport(carrier) {
      $0.pins = [
        PublicKeyPins(host: ".example.com", sha256: [TrustFixture.strangePin, TrustFixture.sparePin]),
        PublicKeyPins(host: "localhost", sha256: [pin, TrustFixture.sparePin]),
      ]
      $0.addressOverrides = ["a.example.com:\(port)": "127.0.0.1"]
    }
    #expect(try await TrustFixture.client("https://localhost:\(port)", transport).send(Inquiry("/"))["path"] == "/")
    // The certificate is valid only for localhost, and the host name is verified before the pins.
    let error = try await failure(TrustFixture.client("https://a.example.com:\(port)", transport), Inquiry("/"))
    #expect(error.transportKind == .wrongHost)
    let twice = try TrustFixture.refusal(carrier) {
      $0.pins = [
        PublicKeyPins(host: "localhost", sha256: [pin, TrustFixture.sparePin]),
        PublicKeyPins(host: "LOCALHOST", sha256: [pin, TrustFixture.strangePin]),
      ]
    }
    #expect(twice?.contains("twice") == true)
  }
}
