import Errand
import ErrandTesting
import Foundation
import Testing

/// Path variables arrive unchanged at a real server.
struct PathAttackTests {
  private static func decoded(_ text: some StringProtocol) -> [UInt8] {
    var out: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == 0x25, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        out.append(value)
        rest = rest.dropFirst(2)
      } else {
        out.append(byte)
      }
    }
    return out
  }

  @Test func `every ASCII character arrives unchanged`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let client = APIClient(baseURL: server.url + "/base/")
    for byte in UInt8(0)..<128 {
      let value = String(UnicodeScalar(byte))
      let text = "x\(value)y"
      _ = try await client.send(Sending(path: "/a/\(text)/b?q=\(text)", arguments: ["k\(value)": text]))
      if value != "." { _ = try await client.send(Sending(path: "/a/\(value)/b")) }
      let seen = try #require(server.requests.last { $0.query != nil })
      let parts = seen.path.split(separator: "/", omittingEmptySubsequences: false)
      #expect(parts.count == 5 && parts[1] == "base" && parts[4] == "b")
      #expect(parts.count > 3 && Self.decoded(parts[3]) == Array(text.utf8))
      let pairs = try #require(seen.query).split(separator: "&", omittingEmptySubsequences: false)
      #expect(pairs.count == 2)
      #expect(pairs.first.map { Self.decoded($0.dropFirst(2)) } == Array(text.utf8))
      let halves = pairs.last?.split(separator: "=", omittingEmptySubsequences: false) ?? []
      #expect(halves.map { Self.decoded($0) } == [Array("k\(value)".utf8), Array(text.utf8)])
    }
    let singles = server.requests.filter { $0.query == nil }
    #expect(singles.count == 127)
    #expect(singles.allSatisfy { $0.path.split(separator: "/", omittingEmptySubsequences: false).count == 5 })
  }

  @Test(arguments: [
    "\u{301}", "e\u{301}", "\u{200D}", "\u{202E}evil", "\u{FEFF}", "\u{FFFD}", "\u{10FFFF}", "\u{2028}", "🇩🇪🇫🇷",
    "👨‍👩‍👧‍👦", "\u{E000}", "Ⅷ／．．", "．．", "․․", "%2e%2e", "..%2F", "%00", "\u{85}", "\r\n\u{301}", "a\u{0}b",
  ])
  func `unusual Unicode arrives unchanged`(value: String) async throws {
    let server = try LoopbackServer { _ in .ok() }
    let client = APIClient(baseURL: server.url)
    _ = try await client.send(Sending(path: "/a/\(value)/b/\(segments: "x/\(value)")"))
    let parts = try #require(server.requests.first).path.split(separator: "/", omittingEmptySubsequences: false)
    #expect(parts.count == 6)
    #expect(parts.count == 6 && Self.decoded(parts[2]) == Array(value.utf8))
    #expect(parts.count == 6 && Self.decoded(parts[5]) == Array(value.utf8))
  }
}
