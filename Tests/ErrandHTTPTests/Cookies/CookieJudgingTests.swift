@testable import ErrandHTTP
import Testing

/// Whether a cookie is stored, by RFC 6265 section 5.3 and the name prefixes of its successor.
struct CookieJudgingTests {
  static let now: Int64 = 1_700_000_000_000

  struct Suffixes: PublicSuffixes {
    func isPublicSuffix(_ domain: String) -> Bool {
      ["com", "co.uk", "uk", "github.io", "io", "xn--p1ai"].contains(domain)
    }
  }

  private func cookie(
    _ field: String, from url: String = "https://www.example.com/a/b", suffixes: (any PublicSuffixes)? = Suffixes()
  ) throws -> Cookie {
    try SetCookie(field).cookie(from: try HTTPURL(url), now: Self.now, suffixes: suffixes)
  }

  @Test(arguments: [
    ("https://www.example.com", "", "www.example.com", true),
    ("https://www.example.com", "www.example.com", "www.example.com", false),
    ("https://www.example.com", ".WWW.Example.COM", "www.example.com", false),
    ("https://www.example.com", "example.com", "example.com", false),
    ("https://www.example.com", ".example.com", "example.com", false),
    ("https://a.b.example.co.uk", "example.co.uk", "example.co.uk", false),
    ("https://com", "com", "com", true), ("https://github.io", ".github.io", "github.io", true),
    ("https://127.0.0.1", "127.0.0.1", "127.0.0.1", true), ("https://[::1]", "[::1]", "[::1]", true),
    ("https://a.xn--80ak6aa92e.com", "xn--80ak6aa92e.com", "xn--80ak6aa92e.com", false),
    ("https://example.com.", "example.com.", "example.com.", true),
  ])
  func `valid Domain is accepted`(_ url: String, _ attribute: String, _ domain: String, _ isHostOnly: Bool) throws {
    let cookie = try cookie("a=b; Domain=\(attribute)", from: url)
    #expect(cookie.domain == domain && cookie.isHostOnly == isHostOnly)
  }

  @Test(arguments: [
    ("https://www.example.com", "com", CookieRefusal.publicSuffix),
    ("https://ada.github.io", "github.io", .publicSuffix),
    ("https://a.co.uk", ".co.uk", .publicSuffix), ("https://www.example.com", "other.com", .foreignDomain),
    ("https://www.example.com", "ample.com", .foreignDomain),
    ("https://www.example.com", "a.www.example.com", .foreignDomain),
    ("https://www.example.com", "..example.com", .foreignDomain),
    ("https://www.example.com", "example.com.", .foreignDomain),
    ("https://www.example.com.", "example.com.", .foreignDomain),
    ("https://www.example.com.", "example.com", .foreignDomain),
    ("https://www.example.com", "com.", .foreignDomain), ("https://127.0.0.1", "0.0.1", .foreignDomain),
    ("https://127.0.0.1", "1", .foreignDomain), ("https://10.0x1", "0x1", .foreignDomain),
    ("https://www.example.com", "b\u{FC}cher.com", .invalidDomain),
    ("https://www.example.com", "exam ple.com", .invalidDomain),
    ("https://www.example.com", "example.com/", .invalidDomain), ("https://a.xn--p1ai", "xn--p1ai", .publicSuffix),
  ])
  func `invalid Domain is refused`(_ url: String, _ attribute: String, _ refusal: CookieRefusal) {
    #expect(throws: refusal) { try cookie("a=b; Domain=\(attribute)", from: url) }
  }

  @Test func `cookies are host-only without suffix list`() throws {
    #expect(throws: CookieRefusal.unknownSuffix) { try cookie("a=b; Domain=example.com", suffixes: nil) }
    #expect(throws: CookieRefusal.foreignDomain) { try cookie("a=b; Domain=other.com", suffixes: nil) }
    let own = try cookie("a=b; Domain=www.example.com", suffixes: nil)
    #expect(own.isHostOnly && own.domain == "www.example.com")
  }

  @Test(arguments: [
    ("https://h", "/"), ("https://h/", "/"), ("https://h/a", "/"), ("https://h/a/", "/a"), ("https://h/a/b?c/d", "/a"),
    ("https://h?q=/x/y", "/"), ("https://h//", "/"), ("https://h/a;b/c", "/a;b"),
  ])
  func `missing path gets the default`(_ url: String, _ path: String) throws {
    #expect(try cookie("a=b", from: url).path == path)
    #expect(try cookie("a=b; Path=c", from: url).path == path)
    #expect(try cookie("a=b; Path=/c", from: url).path == "/c")
  }

  @Test func `Secure requires a TLS response`() throws {
    #expect(throws: CookieRefusal.insecure) { try cookie("a=b; Secure", from: "http://h/") }
    #expect(try cookie("a=b; Secure", from: "https://h/").isSecure)
    #expect(try !cookie("a=b", from: "https://h/").isSecure)
  }

  @Test(arguments: [
    ("__Secure-a=b; Secure", true), ("__Secure-a=b", false), ("__secure-a=b", false), ("__SECURE-a=b; Secure", true),
    ("__Host-a=b; Secure; Path=/", true), ("__Host-a=b; Secure", false), ("__Host-a=b; Path=/", false),
    ("__Host-a=b; Secure; Path=/a", false), ("__Host-a=b; Secure; Path=/; Domain=www.example.com", false),
    ("__host-a=b; Secure; Path=/; Domain=example.com", false), ("__hOSt-a=b; Secure; Path=/", true),
    ("__Host=b", true), ("__Secur-a=b", true), ("a__Host-=b", true),
  ])
  func `name prefixes are enforced`(_ field: String, _ isTaken: Bool) throws {
    if isTaken {
      #expect(try !cookie(field, from: "https://www.example.com/").name.isEmpty)
    } else {
      #expect(throws: CookieRefusal.prefix) { try cookie(field, from: "https://www.example.com/") }
    }
  }

  private static let day: Int64 = 86_400_000

  @Test(arguments: [
    ("a=b", nil), ("a=b; Max-Age=10", 10_000), ("a=b; Max-Age=10; Expires=Sun, 06 Nov 1994 08:49:37 GMT", 10_000),
    ("a=b; Max-Age=99999999999", 400 * day), ("a=b; Expires=Tue, 31 Dec 9999 00:00:00 GMT", 400 * day),
    ("a=b; Max-Age=34560000", 400 * day), ("a=b; Max-Age=34559999", 400 * day - 1_000),
    ("a=b; Expires=Wed, 15 Nov 2023 22:13:20 GMT", day), ("a=b; Expires=never", nil),
  ])
  func `lifetime is limited to 400 days`(_ field: String, _ left: Int64?) throws {
    #expect(try cookie(field).expiry == left.map { Self.now + $0 })
  }

  @Test(arguments: [
    "a=b; Max-Age=0", "a=b; Max-Age=-5", "a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT",
    "a=b; Max-Age=0; Expires=Tue, 31 Dec 9999 00:00:00 GMT",
  ])
  func `past expiry removes the cookie`(_ field: String) throws {
    #expect(try cookie(field).isOver(at: Self.now))
  }

  @Test func `extreme clocks saturate the expiry`() throws {
    for now in [Int64.min, -1, 0, .max - 1, .max] {
      func expiry(_ field: String) throws -> Int64? {
        try SetCookie(field).cookie(from: try HTTPURL("http://h/"), now: now, suffixes: nil).expiry
      }
      let limit = now > .max - 400 * Self.day ? Int64.max : now + 400 * Self.day
      #expect(try expiry("a=b; Max-Age=1") == (limit == .max ? .max : now + 1_000))
      #expect(try expiry("a=b; Max-Age=99999999999") == limit)
      #expect(try expiry("a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT") == min(784_111_777_000, limit))
    }
  }
}
