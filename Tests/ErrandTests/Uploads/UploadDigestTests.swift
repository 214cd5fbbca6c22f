import Errand
import ErrandChecksum
import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TransportChecks

/// Digests of request bodies (RFC 9530).
struct UploadDigestTests {
  /// The content and the digest of the examples in RFC 9530 appendix B.6 and A.
  private static let title = Data("{\"title\": \"New Title\"}\n".utf8)
  private static let titleDigest = "sha-256=:mEkdbO7Srd9LIOegftO0aBX+VPTVz7/CSHes2Z27gc4=:"
  private static let hello = Data("{\"hello\": \"world\"}\n".utf8)
  private static let helloDigest = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"

  private func bench(_ digesting: DigestingBodies = DigestingBodies(), _ answers: ScriptedAnswer...) -> ScriptedClient {
    let rest = Recorded(answers)
    return ScriptedClient({ $0.interceptors.calls.append(digesting) }) { _ in rest.takeFirst() ?? .text("") }
  }

  @Test(arguments: Carrier.allCases) func `bytes and files have a digest`(carrier: Carrier) async throws {
    let folder = try UploadFolder()
    let file = try folder.file("hello.json", Self.hello)
    let server = try LoopbackServer { _ in .ok("") }
    defer { server.stop() }
    let transport = carrier.transport()
    let client = transport.client(at: server) { $0.interceptors.calls.append(DigestingBodies(in: .representation)) }
    _ = try await client.send(Upload(.bytes(Self.title, type: "application/json")) { $0.method = .post })
    _ = try await client.send(Upload(.file(file)))
    #expect(server.requests.map { $0.headers["Repr-Digest"] } == [Self.titleDigest, Self.helloDigest])
    #expect(server.requests.map { Data($0.body) } == [Self.title, Self.hello])
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test func `large file is read in pieces`() async throws {
    let folder = try UploadFolder()
    let bytes = UploadFolder.bytes(3_000_001)
    let bench = bench(DigestingBodies([.sha256, .sha512]))
    _ = try await bench.client.send(Upload(.file(try folder.file("large", bytes))))
    _ = try await bench.client.send(Upload(.bytes(bytes)))
    let fields = bench.transport.requests.map { $0.fields["Content-Digest"] }
    #expect(fields[0] == fields[1] && fields[0]?.hasPrefix("sha-256=:") == true)
    for algorithm in [DigestAlgorithm.sha256, .sha512] {
      let sum = try #require(DigestFields(bench.transport.requests[0].fields, known: [algorithm]).content)
      let hash = try sum.makeHash()
      bytes.withUnsafeBytes { hash.update($0) }
      #expect(sum.matches(hash.finish()))
    }
  }

  @Test func `empty body has a digest, no body has none`() async throws {
    let bench = bench()
    _ = try await bench.client.send(Upload(.bytes(Data())))
    _ = try await bench.client.send(Upload(nil))
    #expect(
      bench.transport.requests.map { $0.fields["Content-Digest"] }
        == ["sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:", nil])
  }

  @Test func `compressed body is digested as sent`() async throws {
    let bench = bench()
    let body = RequestBody.bytes(UploadFolder.bytes(100_000)).compressed()
    _ = try await bench.client.send(Upload(body))
    let sent = try #require(bench.transport.requests.first)
    let digest = try #require(DigestFields(sent.fields, known: [.sha256]).content)
    let hash = try digest.makeHash()
    let bytes = try #require(sent.body?.data)
    bytes.withUnsafeBytes { hash.update($0) }
    #expect(digest.matches(hash.finish()) && sent.fields[.contentEncoding] == "gzip")
  }

  @Test func `source that pauses is read to its end`() async throws {
    let bench = bench()
    let body = PieceSource.body(
      [.bytes(Array(Self.title.prefix(7))), .later, .bytes(Array(Self.title.dropFirst(7)))], isReplayable: true
    ) { $0.resume() }
    _ = try await bench.client.send(Upload(body))
    #expect(bench.transport.requests.first?.fields["Content-Digest"] == Self.titleDigest)
  }

  @Test func `body that is read once is refused`() async {
    let error = await bench().failure(of: Upload(PieceSource.body([.bytes([1])], isReplayable: false)))
    #expect(error?.code == .invalidBody && error?.attempts == 0)
    #expect(error?.message.hasPrefix("The body can be read only once, so its digest cannot be sent before it;") == true)
    let excluding = bench(DigestingBodies { $0.url.path != "/up" })
    #expect(await excluding.failure(of: Upload(PieceSource.body([.bytes([1])], isReplayable: false))) == nil)
  }

  @Test func `own field wins`() async throws {
    let bench = bench()
    var request = Ask<Data>(method: .put, body: .bytes(Self.title))
    request.headers = ["Content-Digest": "sha-256=:AQ==:"]
    #expect(try await bench.sent(request)?.fields.values(of: "Content-Digest") == ["sha-256=:AQ==:"])
  }

  @Test(arguments: [(307, true), (303, false)]) func `redirect without the body drops the digest`(
    status: Int, keeps: Bool
  ) async throws {
    for field in [DigestingBodies.Field.content, .representation] {
      let bench = bench(DigestingBodies(in: field), .redirect(to: "/b", status: status))
      _ = try await bench.client.send(Upload(.bytes(Self.title)))
      let last = bench.transport.requests.last?.fields[HTTPFieldName(field.rawValue)]
      #expect(last == (keeps ? Self.titleDigest : nil) && bench.transport.requests.count == 2)
    }
  }
}
