// Messages of Protocol Buffers. This message has one text; a generator makes such types from a .proto file.
import Errand
import ErrandCore
import ErrandTesting
import Foundation

struct User: Sendable {
  var name = ""

  init(serializedBytes bytes: Data) throws { name = String(decoding: bytes.dropFirst(2), as: UTF8.self) }
  init(name: String) { self.name = name }
  func serializedBytes() throws -> Data { Data([0x0A, UInt8(name.utf8.count)] + name.utf8) }
}

// snippet.message
extension User: WireMessage {
  init(wire bytes: Data) throws { try self.init(serializedBytes: bytes) }
  func wire() throws -> Data { try serializedBytes() }
}
// snippet.end

// snippet.request
struct SaveUser: APIRequest {
  let user: User
  var path: Path { "/users" }
  var method: HTTPMethod { .post }
  var body: RequestBody? { .protobuf(user) }
  var validation: ResponseValidation { ResponseValidation(contentTypes: ["application/x-protobuf"]) }
  var decoder: ResponseDecoder<User> { .protobuf() }
}
// snippet.end

let server = try LoopbackServer { .data($0.body, contentType: "application/x-protobuf") }
let client = APIClient(baseURL: server.url)

// snippet.send
do {
  let saved = try await client.send(SaveUser(user: User(name: "Ada")))
  print(saved.name)
} catch {
  let refusal = error.body(asMessage: User.self)
  print(refusal?.name ?? error.message)
}
// snippet.end
print(server.requests.count)
