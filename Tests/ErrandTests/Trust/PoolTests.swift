import Errand
import Foundation
import Testing

/// A connection that was opened under one trust setting is never used under another.
@Suite(.serialized) struct PoolTests {
  private func connection(_ transport: any TrustTransport, _ host: String = "localhost") async throws -> Int {
    let port = try TrustFixture.port("ERRAND_DOOR_TLS")
    let answer = try await TrustFixture.client("https://\(host):\(port)", transport).send(Inquiry("/"))
    return try #require(answer["connection"]?.intValue)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `transports do not share connections`(carrier: TrustCarrier) async throws {
    let (one, other) = (try TrustFixture.transport(carrier), try TrustFixture.transport(carrier))
    let first = try await connection(one)
    #expect(try await connection(one) == first)
    let second = try await connection(other)
    #expect(second != first)
    #expect(try await connection(one) == first)
    #expect(try await connection(other) == second)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `hosts do not share connections`(carrier: TrustCarrier) async throws {
    let pin = try TrustFixture.pin("server")
    let transport = try TrustFixture.transport(carrier) {
      $0.pins = [PublicKeyPins(host: "localhost", sha256: [pin, TrustFixture.sparePin])]
    }
    let (pinned, other) = (try await connection(transport), try await connection(transport, "127.0.0.1"))
    #expect(pinned != other)
    #expect(try await connection(transport) == pinned)
    #expect(try await connection(transport, "127.0.0.1") == other)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `later pins open new connections`(carrier: TrustCarrier) async throws {
    let transport = try TrustFixture.transport(carrier)
    let first = try await connection(transport)
    let pin = try TrustFixture.pin("server")
    try transport.change { $0.pins = [PublicKeyPins(host: "localhost", sha256: [pin, TrustFixture.sparePin])] }
    #expect(try await connection(transport) != first)
    let strange = PublicKeyPins(host: "localhost", sha256: [TrustFixture.strangePin, TrustFixture.sparePin])
    try transport.change { $0.pins = [strange] }
    let port = try TrustFixture.port("ERRAND_DOOR_TLS")
    let error = try await failure(TrustFixture.client("https://localhost:\(port)", transport), Inquiry("/"))
    #expect(error.transportKind == .pinMismatch)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `refused update changes nothing`(carrier: TrustCarrier) async throws {
    let transport = try TrustFixture.transport(carrier)
    let first = try await connection(transport)
    #expect {
      try transport.change { $0.pins = [PublicKeyPins(host: "localhost", sha256: [])] }
    } throws: {
      $0 is any InvalidSettings
    }
    #expect(try await connection(transport) == first)
  }
}
