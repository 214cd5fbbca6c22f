import Errand
import ErrandTesting
import Foundation
import Testing
import TransportChecks

@testable import ErrandCore

struct UploadMultipartTests {
  /// The bytes of a form, with the boundary `B`.
  private static func bytes(_ form: Multipart) throws -> String {
    let (body, boundary) = try MultipartWriter(parts: form.parts, encoding: JSONEncoding()).body()
    return String(decoding: try body.everything(), as: UTF8.self).replacing(boundary, with: "B")
  }

  @Test(
    arguments: [
      ([], "--B--\r\n"),
      (
        [.text("a", "b")], "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B--\r\n"
      ),
      (
        [.text("中", "é"), .text("", "")],
        "--B\r\nContent-Disposition: form-data; name=\"中\"\r\n\r\né\r\n"
          + "--B\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n\r\n--B--\r\n"
      ),
      (
        [.json("j", [1, 2])],
        "--B\r\nContent-Disposition: form-data; name=\"j\"\r\nContent-Type: application/json\r\n\r\n[1,2]\r\n--B--\r\n"
      ),
      (
        [.data("d", Data("x".utf8), filename: "a b.png", type: "image/png").field("X-Order", "1")],
        "--B\r\nContent-Disposition: form-data; name=\"d\"; filename=\"a b.png\"\r\n"
          + "Content-Type: image/png\r\nX-Order: 1\r\n\r\nx\r\n--B--\r\n"
      ),
      (
        [.body("s", PieceSource.streamed([.bytes(Array("12".utf8)), .bytes(Array("3".utf8))]), type: "text/x")],
        "--B\r\nContent-Disposition: form-data; name=\"s\"\r\nContent-Type: text/x\r\n\r\n123\r\n--B--\r\n"
      ),
    ] as [(Multipart, String)])
  func `form is encoded exactly`(form: Multipart, expected: String) throws {
    #expect(try Self.bytes(form) == expected)
  }

  @Test func `file part has its file name`() throws {
    let folder = try UploadFolder()
    let file = try folder.file("my \"cat\".jpg", Data("cat".utf8))
    let form: Multipart = [.file("image", file), .file("other", file, filename: "dog.png", type: "image/x")]
    let expected =
      "--B\r\nContent-Disposition: form-data; name=\"image\"; filename=\"my %22cat%22.jpg\"\r\n"
      + "Content-Type: image/jpeg\r\n\r\ncat\r\n"
      + "--B\r\nContent-Disposition: form-data; name=\"other\"; filename=\"dog.png\"\r\nContent-Type: image/x\r\n\r\ncat"
      + "\r\n--B--\r\n"
    #expect(try Self.bytes(form) == expected)
  }

  @Test(arguments: [
    ("a\"; filename=\"x", "a%22; filename=%22x"), ("a\r\nX-Evil: 1\r\n\r\n", "a%0D%0AX-Evil: 1%0D%0A%0D%0A"),
    ("100%22", "100%22"), ("a\\b", "a\\b"), ("é🚀\u{301}", "é🚀\u{301}"), ("\"\u{301}", "%22\u{301}"), ("\r", "%0D"),
  ])
  func `hostile names stay inside their quotes`(name: String, expected: String) throws {
    #expect(MultipartWriter.escaped(name) == expected)
    let written = try Self.bytes([.data(name, Data(), filename: name)])
    #expect(written.contains("; name=\"\(expected)\"; filename=\"\(expected)\"\r\nContent-Type"))
    #expect(written.components(separatedBy: "\r\n").count == 7)
  }

  @Test func `hostile header fields are refused`() async throws {
    for part in [
      Multipart.Part.text("a", "b").field("X", "1\r\nY: 2"), .text("a", "b").field("a b", "1"),
      .text("a", "b").field("content-disposition", "form-data"), .text("a", "b").field("Content-Type", "x/y"),
      .data("a", Data(), type: "x/y\r\nZ: 1"),
    ] {
      let bench = ScriptedClient()
      let error = try #require(await bench.failure(of: Upload(.multipart([part]))))
      #expect(error.stage == .build && bench.transport.requests.isEmpty, "\(error)")
    }
  }

  /// Other libraries use -1 for an unknown length. The length of a form would hide it, and a compressed body has none.
  @Test func `negative length is refused`() async throws {
    let body = HTTPBody.stream(length: -1, isReplayable: true) { flow in
      PieceSource([.bytes([1])], PieceSource.Log(), flow, onLater: { _ in })
    }
    let form = RequestBody.multipart([.text("a", "b"), .body("c", body)])
    for sent in [RequestBody.body(body), RequestBody.body(body).compressed(), form] {
      let bench = ScriptedClient()
      let error = try #require(await bench.failure(of: Upload(sent)))
      #expect(error.stage == .build && error.code == .invalidBody && bench.transport.requests.isEmpty, "\(error)")
      #expect(error.message.contains("its length is -1"))
    }
  }

  @Test func `equal forms make equal requests`() async throws {
    struct Match: APIRequest {
      typealias Response = String
      var path: Path { "/match" }
      var method: HTTPMethod { .post }
      var cache: CachePolicy { .lifetime(.seconds(60)) }
      var name = "x"
      var body: RequestBody? { .multipart([.text("q", name), .data("d", Data([0, 1]), type: "a/b")]) }
    }
    let bench = ScriptedClient(answers: [.text("answer"), .text("answer")])
    #expect(await bench.client.outcome(of: Match()).origin == .network)
    #expect(await bench.client.outcome(of: Match()).origin == .cacheFresh)
    #expect(await bench.client.outcome(of: Match(name: "y")).origin == .network)
  }

  @Test func `boundary occurring in a part is replaced`() throws {
    func form(_ text: String) throws -> (body: HTTPBody, boundary: String) {
      try MultipartWriter(parts: [.text("a", text), .text("b", text)], encoding: JSONEncoding()).body()
    }
    let plain = try form("x")
    #expect(try form("x").boundary == plain.boundary && form("y").boundary != plain.boundary)
    let text = String(decoding: try plain.body.everything(), as: UTF8.self)
    #expect(text.components(separatedBy: plain.boundary).count == 4)
  }

  @Test func `boundary occurs in no part`() throws {
    // The part contains the first forty letters that the generator yields, so the next forty become the boundary.
    var random = SteppingGenerator()
    let first = MultipartWriter.boundary(absentFrom: [], using: &random)
    random = SteppingGenerator()
    let next = MultipartWriter.boundary(absentFrom: [Data("…\(first)…".utf8)], using: &random)
    #expect(first.count == 40 && next.count == 40 && next != first)
    #expect(next.utf8.allSatisfy { ASCII.isToken(String(UnicodeScalar($0))) })
  }

  @Test func `length is announced if known`() async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f", UploadFolder.bytes(100_000))
    let server = try LoopbackServer { _ in .ok() }
    let client = APIClient(baseURL: server.url)
    let known = PieceSource.streamed([.bytes([1, 2])], length: 2)
    for (parts, isKnown) in [
      ([.text("a", "b"), .file("f", file)], true), ([.file("f", file), .body("s", known)], true),
      ([.file("f", file), .body("s", PieceSource.streamed([.bytes([1, 2])]))], false), ([], true),
    ] as [([Multipart.Part], Bool)] {
      _ = try await client.send(Upload(.multipart(Multipart(parts))))
      let seen = try #require(server.requests.last)
      #expect(seen.headers["Content-Length"] == (isKnown ? "\(seen.bodyLength)" : nil))
      let type = try #require(seen.headers["Content-Type"])
      let boundary = try #require(type.split(separator: "boundary=").last)
      #expect(type.hasPrefix("multipart/form-data; boundary=") && [32, 40].contains(boundary.count))
      #expect(seen.bodyText.hasSuffix("--\(boundary)--\r\n"))
    }
  }

  @Test func `JSON parts follow the request's rules`() async throws {
    struct Named: Encodable, Sendable { let firstName: String }
    let bench = ScriptedClient { $0.formats.jsonEncoding = JSONEncoding(keys: .convertToSnakeCase) }
    let sent = try await bench.sent(Sending(method: .post, body: .multipart([.json("j", Named(firstName: "A"))])))
    #expect(sent?.text?.contains(#"{"first_name":"A"}"#) == true)
    let error = await bench.failure(of: Upload(.multipart([.json("j", [Double.nan])])))
    #expect(error?.code == .invalidBody && error?.message.contains("\"j\"") == true)
  }

  @Test func `part may use any format`() async throws {
    let bench = ScriptedClient()
    let list = Multipart([.encoded("settings", ["name": "Ada"], as: PropertyListFormat(), filename: "s.plist")])
    let text = try #require(await bench.sent(Sending(method: .post, body: .multipart(list)))?.text)
    #expect(text.contains("name=\"settings\"; filename=\"s.plist\"\r\nContent-Type: application/x-plist\r\n"))
    #expect(text.contains("<string>Ada</string>"))
    let broken = Multipart([.encoded("b", [1], as: Broken())])
    let error = await bench.failure(of: Upload(.multipart(broken)))
    #expect(error?.code == .invalidBody && error?.message.contains("The part \"b\"") == true)
    #expect(error?.message.contains("encoded as nonsense") == true)
  }

  private struct Broken: BodyFormat {
    struct Refused: Error {}
    let name = "nonsense"
    let contentType = "application/x-nonsense"
    func encode<Value: Encodable>(_ value: Value) throws -> Data { throw Refused() }
  }
}

/// Yields 0, 1, 2 … in the upper bits.
private struct SteppingGenerator: RandomNumberGenerator {
  private var last: UInt64 = 0

  mutating func next() -> UInt64 {
    last &+= 0x0400_0000_0000_0000
    last &+= 1
    return last &* 0x9E37_79B9_7F4A_7C15
  }
}

extension PieceSource {
  static func streamed(_ steps: [Step], length: Int64? = nil, isReplayable: Bool = false, log: Log = Log()) -> HTTPBody
  {
    .stream(length: length, isReplayable: isReplayable) { flow in PieceSource(steps, log, flow, onLater: { _ in }) }
  }
}

extension HTTPBody {
  /// All bytes of a body that never pauses.
  func everything() throws -> Data {
    let source = try open(BodyFlow {})
    var (whole, room) = (Data(), [UInt8](repeating: 0, count: 7))
    while case .bytes(let count) = try room.withUnsafeMutableBytes({ try source.read(into: $0) }) {
      whole += room[..<count]
    }
    return whole
  }
}
