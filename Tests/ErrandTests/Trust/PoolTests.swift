import Errand
import Foundation
import Testing

/// A connection that was opened under one trust setting is never used under another.
@Suite(.serialized) struct PoolTests {
  private func connection(_ transport: CurlTransport, _ host: String = "localhost") async throws -> Int {
    let port = try TrustFixture.port("ERRAND_DOOR_TLS")
    let answer = try await TrustFixture.client("https://\(host):\(port)", transport).send(Inquiry("/"))
    return try #require(answer["connection"]?.intValue)
  }

  @Test func `transports do not share connections`() async throws {
    let (one, other) = (try TrustFixture.transport(), try TrustFixture.transport())
    let first = try await connection(one)
    #expect(try await connection(one) == first)
    let second = try await connection(other)
    #expect(second != first)
    #expect(try await connection(one) == first)
    #expect(try await connection(other) == second)
  }

  @Test func `hosts do not share connections`() async throws {
    let pin = try TrustFixture.pin("server")
    let transport = try TrustFixture.transport {
      $0.pins = [PublicKeyPins(host: "localhost", sha256: [pin, TrustFixture.sparePin])]
    }
    let (pinned, other) = (try await connection(transport), try await connection(transport, "127.0.0.1"))
    #expect(pinned != other)
    #expect(try await connection(transport) == pinned)
    #expect(try await connection(transport, "127.0.0.1") == other)
  }

  @Test func `later pins open new connections`() async throws {
    let transport = try TrustFixture.transport()
    let first = try await connection(transport)
    var configuration = transport.configuration
    let pin = try TrustFixture.pin("server")
    configuration.pins = [PublicKeyPins(host: "localhost", sha256: [pin, TrustFixture.sparePin])]
    try transport.update(configuration)
    #expect(try await connection(transport) != first)
    configuration.pins = [PublicKeyPins(host: "localhost", sha256: [TrustFixture.strangePin, TrustFixture.sparePin])]
    try transport.update(configuration)
    let port = try TrustFixture.port("ERRAND_DOOR_TLS")
    let error = try await failure(TrustFixture.client("https://localhost:\(port)", transport), Inquiry("/"))
    #expect(error.transportKind == .pinMismatch)
  }

  @Test func `refused update changes nothing`() async throws {
    let transport = try TrustFixture.transport()
    let first = try await connection(transport)
    var configuration = transport.configuration
    configuration.pins = [PublicKeyPins(host: "localhost", sha256: [])]
    #expect(throws: CurlConfiguration.Invalid.self) { try transport.update(configuration) }
    #expect(try await connection(transport) == first)
  }
}
