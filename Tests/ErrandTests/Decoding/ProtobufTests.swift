import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Protocol Buffers messages over real sockets. Python's protobuf wrote the bytes.
struct ProtobufTests {
  /// `message User { string name = 1; uint64 id = 2; repeated sint32 scores = 3; }`, as a code generator would write
  /// it.
  struct User: WireMessage, Equatable {
    struct Broken: Error {}

    var name = ""
    var id: UInt64 = 0
    var scores: [Int32] = []

    init(name: String = "", id: UInt64 = 0, scores: [Int32] = []) {
      (self.name, self.id, self.scores) = (name, id, scores)
    }

    init(wire bytes: Data) throws {
      var rest = bytes[...]
      while !rest.isEmpty {
        switch try Self.number(&rest) {
        case 0x0A: name = String(decoding: try Self.field(&rest), as: UTF8.self)
        case 0x10: id = try Self.number(&rest)
        case 0x1A:
          var packed = try Self.field(&rest)
          while !packed.isEmpty {
            let value = UInt32(truncatingIfNeeded: try Self.number(&packed))
            scores.append(Int32(bitPattern: value >> 1) ^ -Int32(bitPattern: value & 1))
          }
        default: throw Broken()
        }
      }
    }

    func wire() throws -> Data {
      if name == "unwritable" { throw Broken() }
      var bytes = Data()
      if !name.isEmpty { bytes += [0x0A] + Self.bytes(UInt64(name.utf8.count)) + name.utf8 }
      if id != 0 { bytes += [0x10] + Self.bytes(id) }
      if !scores.isEmpty {
        let packed = scores.flatMap { Self.bytes(UInt64(UInt32(bitPattern: $0 << 1 ^ $0 >> 31))) }
        bytes += [0x1A] + Self.bytes(UInt64(packed.count)) + packed
      }
      return bytes
    }

    private static func number(_ rest: inout Data) throws -> UInt64 {
      var value: UInt64 = 0
      for shift in stride(from: 0, to: 64, by: 7) {
        guard let byte = rest.popFirst() else { throw Broken() }
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
      }
      throw Broken()
    }

    private static func field(_ rest: inout Data) throws -> Data {
      let count = Int(clamping: try number(&rest))
      guard count <= rest.count else { throw Broken() }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
      var (rest, bytes) = (number, [UInt8]())
      while rest > 0x7F {
        bytes.append(UInt8(rest & 0x7F) | 0x80)
        rest >>= 7
      }
      return bytes + [UInt8(rest)]
    }
  }

  private struct Save: APIRequest {
    var user: User?
    var path: Path { "/users" }
    var method: HTTPMethod { user == nil ? .get : .post }
    var arguments: Arguments { user == nil ? ["id": 7] : [:] }
    var body: RequestBody? { user.map { .protobuf($0) } }
    var validation: ResponseValidation { ResponseValidation(contentTypes: ["application/x-protobuf"]) }
    var decoder: ResponseDecoder<User> { .protobuf() }
    typealias Response = User
  }

  static let whole = Data([
    0x0A, 0x0A, 0x41, 0x64, 0x61, 0x20, 0xE9, 0x98, 0xBF, 0xE8, 0xBE, 0xBE, 0x10, 0x85, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x01, 0x1A, 0x09, 0x01, 0x00, 0xAC, 0x02, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F,
  ])
  static let ada = User(name: "Ada 阿达", id: 1 << 63 + 5, scores: [-1, 0, 150, .min])

  @Test func `message is sent and received`() async throws {
    let server = try LoopbackServer { .data($0.body, contentType: "application/x-protobuf") }
    let client = APIClient(baseURL: server.url)
    #expect(try await client.send(Save(user: Self.ada)) == Self.ada)
    let sent = try await server.request(number: 1)
    #expect(Data(sent.body) == Self.whole && sent.headers["Content-Type"] == "application/x-protobuf")
    #expect(sent.headers["Accept"] == "application/x-protobuf")
  }

  private struct Replace: APIRequest {
    static let type = "application/vnd.example.user+protobuf"
    var path: Path { "/users/7" }
    var method: HTTPMethod { .put }
    var body: RequestBody? { .protobuf(ada, type: Self.type) }
    var validation: ResponseValidation { ResponseValidation(contentTypes: [Self.type]) }
    var decoder: ResponseDecoder<User> { .protobuf(accept: Self.type) }
    typealias Response = User
  }

  @Test func `server's own content type is used`() async throws {
    let server = try LoopbackServer()
    let client = APIClient(baseURL: server.url)
    server.enqueue(.data(Self.whole, contentType: Replace.type))
    #expect(try await client.send(Replace()) == Self.ada)
    let sent = try await server.request(number: 1)
    #expect(Data(sent.body) == Self.whole && sent.headers["Content-Type"] == Replace.type)
    #expect(sent.headers["Accept"] == Replace.type)

    server.enqueue(.data(Self.whole, contentType: "application/x-protobuf"))
    let wrong = await client.outcome(of: Replace()).error
    #expect(wrong?.stage == .validate && wrong?.code == .contentType && server.requests.count == 2)
  }

  @Test func `GET arguments stay in the URL`() async throws {
    let server = try LoopbackServer { _ in .data(Self.whole, contentType: "application/x-protobuf") }
    #expect(try await APIClient(baseURL: server.url).send(Save()) == Self.ada)
    let sent = try await server.request(number: 1)
    #expect(sent.target == "/users?id=7" && sent.body.isEmpty && sent.headers["Content-Type"] == nil)
  }

  @Test func `every truncated message is refused`() {
    for count in 1..<Self.whole.count where ![12, 23].contains(count) {
      #expect(throws: User.Broken.self, "\(count)") { try User(wire: Self.whole.prefix(count)) }
    }
  }

  @Test func `decoding failures have their stage`() async throws {
    let server = try LoopbackServer()
    let client = APIClient(baseURL: server.url)
    server.enqueue(.data(Self.whole.dropLast(), contentType: "application/x-protobuf"))
    let cut = await client.outcome(of: Save()).error
    #expect(cut?.stage == .decode && cut?.cause is User.Broken && cut?.message.contains("protobuf") == true)

    server.enqueue(.json("{}"))
    #expect(await client.outcome(of: Save()).error?.code == .contentType)

    let refusal = try User(name: "no such user", id: 300).wire()
    server.enqueue(.data(refusal, contentType: "application/x-protobuf", status: 404))
    let refused = await client.outcome(of: Save()).error
    let told = refused?.body(asMessage: User.self)
    #expect(refused?.status == 404 && told?.id == 300 && told?.name == "no such user")

    server.enqueue(.data(refusal, contentType: "application/x-protobuf"))
    let noModel = await client.outcome(of: Save(), as: Reform { (_: User) throws -> Int in throw User.Broken() }).error
    #expect(noModel?.code == .reform && noModel?.response != nil && noModel?.body(asMessage: User.self) == nil)

    let unwritable = await client.outcome(of: Save(user: User(name: "unwritable"))).error
    #expect(unwritable?.stage == .build && unwritable?.code == .invalidBody && unwritable?.cause is User.Broken)
    #expect(server.requests.count == 4)
  }
}
