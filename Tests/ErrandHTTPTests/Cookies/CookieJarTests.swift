@testable import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// The public behaviour of the cookie jar.
struct CookieJarTests {
  @Test(arguments: [
    ("", "v", "h", "/"), (" a", "v", "h", "/"), ("a=", "v", "h", "/"), ("a;", "v", "h", "/"), ("a\n", "v", "h", "/"),
    ("a", "v;w", "h", "/"), ("a", "v\r\nX: y", "h", "/"), ("a", " v", "h", "/"), ("a", "v\t", "h", "/"),
    ("a", "v", "", "/"),
    ("a", "v", "h/x", "/"), ("a", "v", "h:81", "/"), ("a", "v", "u@h", "/"), ("a", "v", ".h", "x"), ("a", "v", "h", ""),
    ("a", "v", "h", "p"), ("a", "v", "h", "/\n"), ("a", "v", "b\u{FC}cher.de", "/"), ("__Host-a", "v", "h", "/p"),
  ])
  func `unsafe cookie cannot be created`(_ name: String, _ value: String, _ host: String, _ path: String) {
    #expect(throws: Cookie.Invalid.self) { try Cookie(name, value, host: host, path: path) }
  }

  @Test func `name prefixes bind cookies of the app`() throws {
    #expect(throws: Cookie.Invalid.self) { try Cookie("__Secure-a", "v", host: "h", isSecure: false) }
    #expect(throws: Cookie.Invalid.self) { try Cookie("__Host-a", "v", host: "h", includesSubdomains: true) }
    #expect(try Cookie("__Host-a", "v", host: "H.Example").domain == "h.example")
    #expect(throws: Cookie.Invalid.self) { try Cookie("a", String(repeating: "v", count: 4_096), host: "h") }
  }

  @Test func `descriptions contain no cookie value`() throws {
    let cookie = try Cookie("sid", "MARKER", host: "h.example", includesSubdomains: true)
    let jar = CookieJar([cookie])
    var text = ""
    dump(cookie, to: &text)
    dump(jar, to: &text)
    dump(CookieRule.jar(jar), to: &text)
    text += "\(cookie) \(String(reflecting: cookie)) \(jar) \(String(reflecting: jar)) \([cookie])"
    #expect(!text.contains("MARKER"))
    #expect("\(cookie)" == "sid=••• at *.h.example/")
    #expect("\(jar)" == "CookieJar(1 cookies)")
  }

  @Test func `saved cookies are restored`() throws {
    let first = try Cookie("a", "1", host: "h", path: "/p", isHTTPOnly: true, sameSite: .lax)
    let second = try Cookie("b", "2", host: "h", includesSubdomains: true, isSecure: false, expires: .distantFuture)
    let third = try Cookie("c", "3", host: "h", expires: .distantPast)
    let jar = CookieJar([first, second, third])
    #expect(jar.all == [first, second])
    let saved = try JSONEncoder().encode(jar.all)
    let again = CookieJar(try JSONDecoder().decode([Cookie].self, from: saved))
    #expect(again.all == [first, second])
    let url = try HTTPURL("https://h/p/q")
    #expect(again.cookies(for: url) == [first, second] && again.field(for: url) == "a=1; b=2")
  }

  @Test(arguments: [
    #"{"name":"a","value":"b\r\nX: y","domain":"h","path":"/","hostOnly":true,"secure":true,"httpOnly":false}"#,
    #"{"name":"__Host-a","value":"b","domain":"h","path":"/","hostOnly":true,"secure":false,"httpOnly":false}"#,
    #"{"name":"a","value":"b","domain":"h","path":"/"}"#,
  ])
  func `invalid saved cookie is refused`(_ text: String) {
    #expect(throws: (any Error).self) { try JSONDecoder().decode(Cookie.self, from: Data(text.utf8)) }
  }

  @Test func `remove takes a condition`() throws {
    let jar = CookieJar([try Cookie("a", "1", host: "h"), try Cookie("b", "2", host: "h")])
    jar.remove { jar.all.count == 2 && $0.name == "a" }
    #expect(jar.all.map(\.name) == ["b"])
    jar.removeAll()
    #expect(jar.all.isEmpty)
  }

  @Test func `responses from before logout set nothing`() throws {
    let (jar, url) = (CookieJar(), try HTTPURL("http://h/"))
    let before = jar.takeField(for: url).removalCount
    jar.removeAll()
    jar.take(["sid=old"], from: url, removalCount: before)
    #expect(jar.all.isEmpty)
    jar.take(["sid=new"], from: url, removalCount: jar.takeField(for: url).removalCount)
    #expect(jar.field(for: url) == "sid=new")
  }

  @Test func `plain HTTP cannot change a secure cookie`() throws {
    let (jar, plain, tls) = (CookieJar(), try HTTPURL("http://h/"), try HTTPURL("https://h/"))
    jar.take(["sid=good; Secure; Path=/"], from: tls, removalCount: 0)
    #expect(
      jar.take(["sid=bad; Path=/", "sid=bad; Path=/x", "ok=1"], from: plain, removalCount: 0)
        == [.coversSecure, .coversSecure])
    #expect(jar.take(["sid=x; Max-Age=0; Path=/"], from: plain, removalCount: 0) == [.coversSecure])
    #expect(jar.field(for: tls) == "sid=good; ok=1" && jar.field(for: plain) == "ok=1")
    jar.take(["sid=open; Path=/"], from: tls, removalCount: 0)
    #expect(
      jar.field(for: plain) == "sid=open; ok=1", "a response over TLS may replace it with a cookie without Secure")
  }

  @Test func `each account has its own jar`() throws {
    let (jars, url) = (CookieJars(), try HTTPURL("http://h/"))
    jars.jar(of: "ada").take(["sid=ada"], from: url, removalCount: 0)
    jars.jar(of: nil).take(["sid=nobody"], from: url, removalCount: 0)
    #expect(jars.jar(of: "ada").field(for: url) == "sid=ada" && jars.jar(of: "eve").field(for: url) == nil)
    let held = jars.jar(of: "ada")
    jars.remove(of: "ada")
    #expect(held.all.isEmpty && jars.jar(of: "ada") !== held && jars.jar(of: nil).field(for: url) == "sid=nobody")
    jars.removeAll()
    #expect(jars.jar(of: nil).all.isEmpty)
  }

  @Test func `hostile field takes linear time`() throws {
    let (jar, url) = (CookieJar(), try HTTPURL("https://h/"))
    let parts = String(repeating: "; Expires=1 Jan 2 3:4:5 x=;Max-Age=9", count: 30_000)
    #expect(jar.take(["a=b" + parts], from: url, removalCount: 0).isEmpty)
    #expect(jar.take([String(repeating: "=;", count: 500_000)], from: url, removalCount: 0) == [.nameless])
  }

  @Test(arguments: 0..<10 as Range<UInt64>) func `random fields do not trap`(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    let words = [
      "a", "=", ";", " ", "Domain", "Path", "/", ".", "h.example", "Max-Age", "-", "9", "Expires", "Jan", ":", "\u{FC}",
      "\0", "__Host-",
      "Secure", "HttpOnly", "SameSite", "Lax", "99999999999999999999", "\t",
    ]
    let (jar, url) = (CookieJar(), try HTTPURL("https://sub.h.example/a/b"))
    var unsafe = 0
    for _ in 0..<1_000 {
      let count = Int.random(in: 0..<14, using: &random)
      let field = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined()
      jar.take([field], from: url, removalCount: 0)
      unsafe += jar.field(for: url).map { ASCII.all($0, { ASCII.isFieldValue($0) }) ? 0 : 1 } ?? 0
    }
    #expect(unsafe == 0)
    #expect(jar.all.count <= 50)
  }
}
