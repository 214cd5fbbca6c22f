import Foundation
import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 4: which fields are stored.
struct Rule04FieldsTests {
  static func kept(_ fields: String) throws -> [String] {
    guard case .store(let head) = try Scene.rules().storing(Scene.response(200, fields, came: 5)) else { return [] }
    return head.answer.fields.all.map { "\($0.name): \($0.value)" }
  }

  @Test(arguments: [
    "Connection: close", "Keep-Alive: 5", "Proxy-Authenticate: Basic", "Proxy-Authentication-Info: x",
    "Proxy-Authorization: x", "TE: trailers", "Transfer-Encoding: chunked", "Upgrade: h2c", "proxy-connection: close",
    "Connection: X-Hop, close | X-Hop: 1 | x-hop: 2", "Set-Cookie: a=1 | Set-Cookie: b=2",
  ])
  func `connection fields are not stored`(fields: String) throws {
    #expect(try Self.kept("X-A: 1 | \(fields) | Date: x | X-B: 2") == ["X-A: 1", "Date: x", "X-B: 2"])
  }

  @Test func `other fields keep their order`() throws {
    let lines =
      "X-Unknown: 1 | Date: d | x-unknown: 2 | Content-Encoding: gzip | Trailer: x | Age: 5 | Warning: 1 | X-Unknown: 3"
    #expect(try Self.kept(lines) == lines.components(separatedBy: " | "))
  }

  @Test func `a missing Date is added`() throws {
    #expect(try Self.kept("X-A: 1") == ["X-A: 1", "Date: Sun, 06 Nov 1994 08:49:42 GMT"])
  }
}
