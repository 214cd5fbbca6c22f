import Testing

@testable import ErrandCache
@testable import ErrandCore

/// `Cache-Groups` and `Cache-Group-Invalidation`, with the examples of RFC 9875.
struct CacheGroupTests {
  private func names(_ text: String) throws -> [String] {
    let head = Scene.stored(text)
    #expect(head.groups.allSatisfy { $0.origin == "https://h" })
    return head.groups.map(\.name)
  }

  @Test(arguments: [
    (#"Cache-Groups: "scripts""#, ["scripts"]), (#"Cache-Groups: "a", "b", "a""#, ["a", "b"]),
    (#"Cache-Groups: "a" | cache-groups: "B""#, ["a", "B"]), (#"Cache-Groups: "a";x=1;y, "b""#, ["a", "b"]),
    (#"Cache-Groups: "é""#, []), ("Cache-Groups: scripts", []), (#"Cache-Groups: "a", b"#, []),
    (#"Cache-Groups: ("a" "b")"#, []), (#"Cache-Groups: "a","#, []), ("Cache-Groups:", []), ("", []),
    (#"Cache-Group-Invalidation: "a""#, []),
  ])
  func `groups are read from the response`(_ text: String, _ expected: [String]) throws {
    #expect(try names(text) == expected)
  }

  @Test func `many and long groups are read`() throws {
    let short = (0..<32).map { "\"\($0)" + String(repeating: "x", count: 32) + "\"" }
    #expect(try names("Cache-Groups: " + short.joined(separator: ", ")).count == 32)
    let many = (0..<200).map { "\"\($0)\"" }.joined(separator: ", ")
    #expect(try names("Cache-Groups: " + many) == (0..<32).map(String.init))
    let lengths = [256, 257].map { "\"" + String(repeating: "y", count: $0) + "\"" }
    #expect(try names("Cache-Groups: " + lengths.joined(separator: ", ")).map(\.count) == [256])
  }

  @Test(arguments: [
    ("https://h/a?q=•", "https://h"), ("http://H:80/", "http://h"), ("https://h:8443", "https://h:8443"),
    ("http://[::1]:81/x", "http://[::1]:81"), ("https://h?q", "https://h"), ("", nil), ("h/a", nil), ("ftp://h/", nil),
  ])
  func `origin is read from the label`(_ url: String, _ origin: String?) {
    #expect(CacheGroup.origin(ofLabel: url) == origin)
  }

  @Test(arguments: [
    ("https://h", "h"), ("https://h:8443", "h"), ("http://[fd00::a]:81", "[fd00::a]"),
    ("http://[fd00::a]", "[fd00::a]"),
    ("https://h:8443/a:b", "h"), ("h", ""), ("", ""), ("https://[x", "[x"),
  ])
  func `host is read from the origin`(_ origin: String, _ host: String) {
    #expect(CacheGroup(origin: origin, name: "a").host == host)
  }

  @Test(arguments: [
    ("https://[fd00::a]/users/@me", "https://[fd00::a]/users/@me"), ("HTTP://H:80", "http://h"),
    ("https://h:8443/a?token=1#x", "https://h:8443/a?token=•••"), ("https://h/a://b@c?d@e", "https://h/a://b@c?•••"),
  ])
  func `label contains the real origin`(_ text: String, _ label: String) throws {
    let url = try HTTPURL(text)
    #expect(CacheEntryLabel.text(of: url) == label)
    #expect(CacheGroup.origin(ofLabel: label) == url.origin.description)
  }

  @Test func `equivalent URLs form a group`() throws {
    func head(_ url: String, _ fields: String) throws -> CacheEntryHead {
      let received = Scene.response(200, fields)
      guard case .store(let head) = try Scene.rules(.get, url: url).storing(received, tag: nil) else {
        throw CancellationError()
      }
      return head
    }
    let fields = "Cache-Control: max-age=60 | No-Vary-Search: key-order"
    let group = CacheGroup.equivalents(of: try HTTPURL("https://h/a?x=1"))
    for (url, belongs) in [
      ("https://h/a", true), ("https://h/a?y", true), ("https://H:443/a?x", true), ("https://h/a/", false),
      ("https://h/b", false), ("http://h/a", false), ("https://h:8443/a", false), ("https://i/a", false),
    ] {
      #expect(try head(url, fields).belongs(to: [group]) == belongs, "\(url)")
      #expect(try !head(url, "Cache-Control: max-age=60").belongs(to: [group]))
    }
    #expect(try head("https://h", fields).belongs(to: [.equivalents(of: HTTPURL("https://h/?x"))]))
    #expect(try head("https://h/a", fields).groups.isEmpty)
    #expect(try !head("https://h/a", fields).belongs(to: []))
  }

  @Test(arguments: [
    (HTTPMethod.post, 200, true), (.put, 204, true), (.delete, 303, true), ("PURGE", 200, true), (.patch, 409, true),
    (.get, 200, false), (.head, 200, false), (.query, 200, false), ("OPTIONS", 200, false),
  ])
  func `unsafe methods invalidate groups`(_ method: HTTPMethod, _ status: Int, _ invalidates: Bool) throws {
    let field = #"Cache-Group-Invalidation: "eurovision-results", "australia""#
    let rules = try Scene.rules(method, url: "https://h:8443/a")
    let groups = rules.groupInvalidations(by: Scene.response(status, field).head)
    let expected = ["eurovision-results", "australia"].map { CacheGroup(origin: "https://h:8443", name: $0) }
    #expect(groups == (invalidates ? expected : []))
    let reading = try Scene.rules(method, policy: .lifetime(.seconds(60)))
    #expect(reading.groupInvalidations(by: Scene.response(status, field).head).isEmpty)
    #expect(rules.groupInvalidations(by: Scene.response(status, #"Cache-Groups: "a""#).head).isEmpty)
  }

  @Test func `groups are compared by bytes`() {
    let group = CacheGroup(origin: "https://h", name: "a")
    #expect(group == CacheGroup(origin: "https://h", name: "a"))
    for other in [("https://h", "A"), ("http://h", "a"), ("https://h", "a\u{301}")] {
      #expect(group != CacheGroup(origin: other.0, name: other.1))
    }
  }
}
