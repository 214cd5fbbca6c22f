@testable import ErrandHTTP
import ErrandTesting
import Testing

/// The storage of a jar, as a value: what it stores, sends and removes at a given time.
struct StoredCookiesTests {
  private func cookie(
    _ name: String, _ value: String = "v", domain: String = "h.example", shared: Bool = false, path: String = "/",
    secure: Bool = false, until: Int64? = nil
  ) -> Cookie {
    Cookie(
      unchecked: name, value, domain: domain, isHostOnly: !shared, path: path, isSecure: secure, isHTTPOnly: false,
      sameSite: nil, expires: until)
  }

  private func shelf(_ cookies: [Cookie], _ limits: StoredCookies.Limits = .init()) -> StoredCookies {
    var shelf = StoredCookies(limits: limits)
    for cookie in cookies { shelf.put(cookie, at: 0) }
    return shelf
  }

  private func field(_ shelf: StoredCookies, _ url: String, at now: Int64 = 0) throws -> String? {
    shelf.field(for: try HTTPURL(url), at: now)
  }

  @Test func `longer paths, then older cookies go first`() throws {
    let shelf = shelf([
      cookie("c", path: "/"), cookie("a", path: "/x/y"), cookie("d", path: "/"), cookie("b", path: "/x"),
      cookie("e", domain: "example", shared: true, path: "/x"), cookie("no", path: "/z"),
    ])
    #expect(try field(shelf, "http://h.example/x/y/z") == "a=v; b=v; e=v; c=v; d=v")
    #expect(try field(shelf, "http://h.example") == "c=v; d=v")
    #expect(try field(shelf, "http://other/") == nil)
  }

  @Test func `replaced cookie keeps its position`() throws {
    var shelf = shelf([cookie("a"), cookie("b")])
    shelf.put(cookie("a", "new"), at: 0)
    #expect(try field(shelf, "http://h.example/") == "a=new; b=v" && shelf.count == 2)
    #expect(shelf.all(at: 0).map(\.name) == ["a", "b"])
  }

  @Test func `cookie key is name, domain, path, scope`() throws {
    let shelf = shelf([
      cookie("a", "1"), cookie("a", "2", path: "/p"), cookie("a", "3", shared: true), cookie("A", "4"),
      cookie("a", "5", domain: "example", shared: true),
    ])
    #expect(shelf.count == 5)
    #expect(try field(shelf, "http://h.example/p") == "a=2; a=1; a=3; A=4; a=5")
    #expect(try field(shelf, "http://sub.h.example/p") == "a=3; a=5")
  }

  @Test func `secure cookie is sent only over TLS`() throws {
    let shelf = shelf([cookie("s", secure: true), cookie("p")])
    #expect(try field(shelf, "https://h.example/") == "s=v; p=v")
    #expect(try field(shelf, "http://h.example/") == "p=v")
  }

  @Test func `port is ignored`() throws {
    #expect(try field(shelf([cookie("a")]), "http://h.example:8080/") == "a=v")
  }

  @Test func `expired cookie is removed`() throws {
    var shelf = shelf([cookie("a", until: 10), cookie("b")])
    #expect(try field(shelf, "http://h.example/", at: 9) == "a=v; b=v")
    #expect(try field(shelf, "http://h.example/", at: 10) == "b=v")
    #expect(shelf.all(at: 10).map(\.name) == ["b"])
    shelf.put(cookie("b", until: 10), at: 10)
    #expect(shelf.all(at: 0).map(\.name) == ["a"], "storing an expired cookie removes the existing one")
    shelf.put(cookie("never", until: 10), at: 10)
    #expect(shelf.count == 1)
  }

  @Test func `domain is limited to fifty cookies`() throws {
    var shelf = shelf((0..<50).map { cookie("c\($0)", secure: $0 < 10) })
    _ = shelf.takeField(for: try HTTPURL("http://h.example/"), at: 0)
    shelf.put(cookie("other", domain: "o.example"), at: 0)
    shelf.put(cookie("more"), at: 0)
    #expect(shelf.count == 51)
    let names = Set(shelf.all(at: 0).map(\.name))
    #expect(
      !names.contains("c10") && names.contains("c0") && names.contains("more"),
      "the oldest cookie without Secure is removed")
  }

  @Test func `secure cookies are removed last`() {
    let shelf = shelf((0..<60).map { cookie("c\($0)", secure: $0 < 50) })
    #expect(shelf.all(at: 0).map(\.name) == (0..<50).map { "c\($0)" })
  }

  @Test func `expired cookies are removed first`() {
    var shelf = shelf((0..<50).map { cookie("c\($0)", until: $0 == 30 ? 5 : nil) })
    shelf.put(cookie("more"), at: 5)
    #expect(shelf.count == 50 && shelf.all(at: 5).contains { $0.name == "c0" })
  }

  @Test func `total number of cookies is limited`() throws {
    var limits = StoredCookies.Limits()
    limits.total = 10
    var shelf = shelf((0..<10).map { cookie("c", domain: "h\($0).example") }, limits)
    _ = shelf.takeField(for: try HTTPURL("http://h0.example/"), at: 0)
    for number in 10..<13 { shelf.put(cookie("c", domain: "h\(number).example"), at: 0) }
    #expect(shelf.count == 10 && shelf.all(at: 0).count == 10)
    let domains = shelf.all(at: 0).map(\.domain)
    #expect(domains.contains("h0.example") && !domains.contains("h1.example") && !domains.contains("h3.example"))
  }

  @Test func `size of the Cookie field is limited`() throws {
    let long = String(repeating: "v", count: 4_000)
    let shelf = shelf((0..<10).map { cookie("c\($0)", long) } + [cookie("small")])
    let field = try #require(try field(shelf, "http://h.example/"))
    #expect(field.utf8.count <= 16_384 && field.hasPrefix("c0=") && field.hasSuffix("; small=v"))
  }

  /// The scalar U+F7FC represents the received byte FC; see `FieldOctets`.
  @Test func `size of field counts sent bytes`() throws {
    let long = String(repeating: "\u{F7FC}", count: 4_000)
    let shelf = shelf((0..<10).map { cookie("c\($0)", long) } + [cookie("small")])
    let field = try #require(try field(shelf, "http://h.example/"))
    #expect(field.split(separator: "; ").map { $0.prefix(3) } == ["c0=", "c1=", "c2=", "c3=", "sma"])
    #expect(FieldOctets.bytes(of: field).count <= 16_384)
  }

  @Test(arguments: [
    ("h.example", "/", true), ("sub.h.example", "/", true), ("example", "/x", true), ("o.example", "/", false),
    ("h.example", "/account/x", true),
  ])
  func `secure cookie is protected`(_ domain: String, _ path: String, _ isCovered: Bool) {
    let shelf = shelf([cookie("sid", domain: "h.example", shared: true, path: "/", secure: true, until: 10)])
    #expect(shelf.hasSecure(covering: cookie("sid", domain: domain, path: path), at: 0) == isCovered)
    #expect(!shelf.hasSecure(covering: cookie("other", domain: domain, path: path), at: 0))
    #expect(!shelf.hasSecure(covering: cookie("sid", domain: domain, path: path), at: 10))
  }

  @Test func `secure cookie does not protect wider paths`() {
    let shelf = shelf([cookie("sid", path: "/account", secure: true)])
    #expect(!shelf.hasSecure(covering: cookie("sid", path: "/"), at: 0))
    #expect(shelf.hasSecure(covering: cookie("sid", path: "/account/x"), at: 0))
  }

  @Test(arguments: 0..<5 as Range<UInt64>) func `count matches stored cookies`(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    var limits = StoredCookies.Limits()
    (limits.perDomain, limits.total) = (4, 9)
    var shelf = StoredCookies(limits: limits)
    for now in 0..<1_000 {
      let made = cookie(
        "c\(Int.random(in: 0..<6, using: &random))", domain: "h\(Int.random(in: 0..<5, using: &random))",
        path: Bool.random(using: &random) ? "/" : "/p", secure: Bool.random(using: &random),
        until: Bool.random(using: &random) ? Int64(now + Int.random(in: -2..<20, using: &random)) : nil)
      if Int.random(in: 0..<10, using: &random) == 0 { shelf.remove(made) } else { shelf.put(made, at: Int64(now)) }
      let all = shelf.all(at: .min)
      #expect(all.count == shelf.count && shelf.count <= 9)
      #expect(Dictionary(grouping: all, by: \.domain).values.allSatisfy { $0.count <= 4 })
    }
  }
}
