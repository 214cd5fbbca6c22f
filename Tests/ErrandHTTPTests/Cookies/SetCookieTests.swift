@testable import ErrandHTTP
import Testing

/// Parsing `Set-Cookie`, by RFC 6265 section 5.2.
struct SetCookieTests {
  @Test(arguments: [
    ("a=b", "a", "b"), (" a = b ", "a", "b"), ("a=b=c", "a", "b=c"), ("a=", "a", ""), ("a=\"b\"", "a", "\"b\""),
    ("a=b;Path=/", "a", "b"), ("a=b ; x", "a", "b"), ("a=b;;;", "a", "b"), ("a b=c d", "a b", "c d"),
    ("\ta\t=\tb\t", "a", "b"), ("a=b,c=d", "a", "b,c=d"), ("n=\u{FC}", "n", "\u{FC}"), ("a=\tb\tc", "a", "b\tc"),
  ])
  func `name and value are parsed`(_ field: String, _ name: String, _ value: String) throws {
    let parsed = try SetCookie(field)
    #expect(parsed.name == name && parsed.value == value)
  }

  @Test(arguments: [
    ("", CookieRefusal.nameless), ("a", .nameless), ("=b", .nameless), (" =b", .nameless), (";a=b", .nameless),
    ("; Path=/", .nameless), ("=__Host-a=b", .nameless), ("a=b\0", .control), ("a=b\u{1}", .control),
    ("a=b; Path=/\u{7F}", .control),
    ("a=b\r\nX: y", .control), ("a\n=b", .control),
  ])
  func `invalid cookie is refused`(_ field: String, _ refusal: CookieRefusal) {
    #expect(throws: refusal) { try SetCookie(field) }
  }

  @Test func `name and value have a size limit`() throws {
    let value = String(repeating: "v", count: 4_095)
    #expect(try SetCookie("n=\(value)").value == value)
    #expect(throws: CookieRefusal.tooLong) { try SetCookie("nn=\(value)") }
    #expect(throws: CookieRefusal.tooLong) { try SetCookie("\(value)=vv") }
    #expect(throws: CookieRefusal.tooLong) { try SetCookie("n=" + String(repeating: "\u{FC}", count: 2_048)) }
  }

  /// The scalar U+F7FC represents the received byte FC; see `FieldOctets`.
  @Test func `limits count received bytes`() throws {
    let value = FieldOctets.text([UInt8](repeating: 0xFC, count: 4_095))
    #expect(value.utf8.count == 3 * 4_095)
    #expect(try SetCookie("n=\(value)").value == value)
    #expect(try Cookie("n", value, host: "h.example").value == value)
    #expect(throws: CookieRefusal.tooLong) { try SetCookie("n=\(value)\u{F7FC}") }
    #expect(throws: Cookie.Invalid.self) { try Cookie("n", "\(value)\u{F7FC}", host: "h.example") }
    let path = "/" + FieldOctets.text([UInt8](repeating: 0xFC, count: 1_023))
    #expect(try SetCookie("a=b; Path=\(path)").path == path)
    #expect(try SetCookie("a=b; Path=/x; Path=\(path)\u{F7FC}").path == "/x")
  }

  @Test(arguments: [
    ("Secure", true), ("secure", true), ("SECURE=no", true), (" Secure ", true), ("Secured", false), ("=Secure", false),
  ])
  func `flags need no value`(_ attribute: String, _ isSet: Bool) throws {
    #expect(try SetCookie("a=b; \(attribute)").isSecure == isSet)
    let other = attribute.replacing("Secure", with: "HttpOnly").replacing("secure", with: "httponly")
    #expect(try SetCookie("a=b; \(other)").isHTTPOnly == (isSet && attribute != "SECURE=no"))
  }

  @Test(arguments: [
    ("Max-Age=10", 10), ("max-age=-1", -1), ("Max-Age=0", 0), ("Max-Age=10; Max-Age=20", 20),
    ("Max-Age=10; Max-Age=x", 10), ("Max-Age=", nil), ("Max-Age=-", nil), ("Max-Age=+1", nil), ("Max-Age=1.5", nil),
    ("Max-Age=1 2", nil), ("Max-Age=99999999999999999999", Int64.max), ("Max-Age=-99999999999999999999", Int64.min),
    ("Max-Age=\u{661}", nil), ("Max-Age= 7 ", 7),
  ])
  func `Max-Age accepts only digits`(_ attribute: String, _ seconds: Int64?) throws {
    #expect(try SetCookie("a=b; \(attribute)").maxAge == seconds)
  }

  @Test(arguments: [
    ("Domain=Example.com", "Example.com"), ("Domain=.a.b", ".a.b"), ("Domain=", nil), ("Domain", nil),
    ("Domain=.", nil),
    ("Domain=a; Domain=b", "b"), ("Domain=a; Domain=", "a"),
  ])
  func `last Domain is used`(_ attribute: String, _ domain: String?) throws {
    #expect(try SetCookie("a=b; \(attribute)").domain == domain)
  }

  @Test(arguments: [
    ("Path=/a", "/a"), ("Path=", nil), ("Path", nil), ("Path=a", nil), ("Path=/a; Path=/b", "/b"),
    ("Path=/a; Path=b", nil),
    ("Path=/a=b", "/a=b"), ("PATH = /x ", "/x"),
  ])
  func `Path must begin with a slash`(_ attribute: String, _ path: String?) throws {
    #expect(try SetCookie("a=b; \(attribute)").path == path)
  }

  @Test(arguments: [
    ("SameSite=Strict", Cookie.SameSite.strict), ("samesite=LAX", .lax), ("SameSite=None", Cookie.SameSite.none),
    ("SameSite=other", nil), ("SameSite", nil), ("SameSite=Lax; SameSite=x", nil),
  ])
  func `SameSite is parsed`(_ attribute: String, _ rule: Cookie.SameSite?) throws {
    #expect(try SetCookie("a=b; \(attribute)").sameSite == rule)
  }

  @Test func `long attributes are ignored`() throws {
    let path = "/" + String(repeating: "p", count: 1_023)
    #expect(try SetCookie("a=b; Path=\(path)").path == path)
    #expect(try SetCookie("a=b; Path=/x; Path=\(path)p").path == "/x")
  }

  @Test func `last valid Expires is used`() throws {
    let field = "a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Expires=soon"
    #expect(try SetCookie(field).expires == 784_111_777_000)
  }
}
