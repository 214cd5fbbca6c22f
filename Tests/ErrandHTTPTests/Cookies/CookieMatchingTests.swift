@testable import ErrandHTTP
import Testing

/// The hosts and paths that a cookie matches, by RFC 6265 sections 5.1.3 and 5.1.4.
struct CookieMatchingTests {
  @Test(arguments: [
    ("example.com", "example.com", true), ("example.com", "www.example.com", true),
    ("example.com", "a.b.example.com", true),
    ("example.com", "badexample.com", false), ("example.com", "example.com.evil.org", false),
    ("www.example.com", "example.com", false),
    ("example.com", "example.com.", false), ("example.com", "www.example.com.", false), ("", "example.com", false),
    ("0.0.1", "127.0.0.1", false), ("127.0.0.1", "127.0.0.1", true), ("1", "127.1", false), ("0x7f", "a.0x7f", false),
    ("[::1]", "[::1]", true), ("1]", "[::1]", false), ("com", "com", true), ("com", ".com", true),
  ])
  func `domain matches its hosts`(_ domain: String, _ host: String, _ isMatch: Bool) {
    #expect(CookieDomain.matches(domain, host) == isMatch)
  }

  @Test(arguments: [
    ("a.b.example.com", ["a.b.example.com", "b.example.com", "example.com", "com"]), ("127.0.0.1", ["127.0.0.1"]),
    ("[::1]", ["[::1]"]), ("localhost", ["localhost"]), ("a.com.", ["a.com."]), ("a..b", ["a..b", ".b", "b"]),
  ])
  func `host lists its parent domains`(_ host: String, _ names: [String]) {
    #expect(CookieDomain.domains(matching: host) == names)
    for name in names { #expect(CookieDomain.matches(name, host)) }
  }

  @Test func `very long host has no parent domains`() {
    let host = String(repeating: "a.", count: 200_000) + "com"
    #expect(CookieDomain.domains(matching: host).count == 1)
  }

  @Test(arguments: [
    ("/", "/", true), ("/", "/a", true), ("/a", "/a", true), ("/a", "/a/", true), ("/a", "/a/b", true),
    ("/a", "/ab", false),
    ("/a/", "/a", false), ("/a/", "/a/b", true), ("/a", "/A", false), ("/a/b", "/a", false), ("/a", "/", false),
    ("/%61", "/a", false), ("/a//", "/a/b", false),
  ])
  func `path matches its subpaths`(_ cookie: String, _ path: String, _ isMatch: Bool) {
    #expect(CookiePath.matches(cookie, path) == isMatch)
  }
}
