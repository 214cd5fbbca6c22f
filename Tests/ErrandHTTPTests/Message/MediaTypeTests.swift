import ErrandHTTP
import Foundation
import Testing

struct MediaTypeTests {
  @Test(arguments: [
    ("text/html", "text/html", [String]()), ("TEXT/HTML", "text/html", []), (" text/html ", "text/html", []),
    ("\ttext/html\t;", "text/html", []), ("text/html; charset=utf-8", "text/html", ["charset", "utf-8"]),
    ("text/html;CharSet=UTF-8", "text/html", ["charset", "UTF-8"]),
    ("text/html; charset=\"utf-8\"", "text/html", ["charset", "utf-8"]),
    ("text/html ; a = b ; c", "text/html", ["a", "b"]), ("a/b;x=\"y;z\";w=1", "a/b", ["x", "y;z", "w", "1"]),
    ("a/b;x=\"y\\\"z\"", "a/b", ["x", "y\"z"]), ("a/b;x=\"\\\\\"", "a/b", ["x", "\\"]),
    ("a/b;x=\"", "a/b", ["x", ""]),
    ("a/b;x=", "a/b", ["x", ""]), ("a/b;x=\"\"", "a/b", ["x", ""]), ("a/b;=y", "a/b", ["", "y"]),
    ("a/b;;;", "a/b", []), ("application/problem+json", "application/problem+json", []),
    ("a/b;x=1;x=2", "a/b", ["x", "1", "x", "2"]), ("a/b;x=a=b", "a/b", ["x", "a=b"]),
  ])
  func `media types are parsed`(text: String, essence: String, parameters: [String]) throws {
    let type = try #require(MediaType(text))
    #expect(type.essence == essence)
    #expect(type.parameters.flatMap { [$0.name, $0.value] } == parameters)
  }

  @Test(arguments: [
    "", " ", "text", "text/", "/html", "text/html/x", "te xt/html", "text /html", "text/ html", ";", "text;/html",
    "text/html, text/plain", "\"text/html\"", "text/html\r\n", "téxt/html", "text/h\0", "*", "text html",
  ])
  func `other texts are not media types`(text: String) { #expect(MediaType(text) == nil) }

  @Test(arguments: [
    ("application/json", true), ("application/json; charset=utf-8", true), ("application/problem+json", true),
    ("text/json", true), ("APPLICATION/JSON", true), ("text/plain", false), ("application/jsonp", false),
    ("application/json-seq", false), ("application/xml", false),
  ])
  func `JSON types are recognised`(text: String, isJSON: Bool) { #expect(MediaType(text)?.isJSON == isJSON) }

  @Test(arguments: [
    ("text/html", "text/html", true), ("text/html", "TEXT/HTML", true), ("text/html", "text/*", true),
    ("text/html", "*/*", true), ("text/html", "text/plain", false), ("text/html", "application/*", false),
    ("textual/html", "text/*", false), ("text/html;a=b", "text/html", true), ("text/html", "text", false),
    ("application/atom+xml", "application/*+xml", true), ("application/atom+xml", "Application/*+XML", true),
    ("application/xml", "application/*+xml", false), ("text/atom+xml", "application/*+xml", false),
    ("application/+xml", "application/*+xml", false), ("application/a+json", "application/*+xml", false),
    ("text/html", "te*", false), ("text/html", "text/h*", false), ("text/html", "text/*html", false),
    ("text/html", "*", false), ("text/html", "*/html", false), ("image/svg+xml", "*/*+xml", true),
    ("application/atom+xml", "*/*+XML", true), ("application/xml", "*/*+xml", false), ("a/+xml", "*/*+xml", false),
    ("application/a+json", "*/*+xml", false),
  ])
  func `patterns match media types`(text: String, pattern: String, fits: Bool) {
    #expect(MediaType(text)?.matches(pattern) == fits)
  }

  @Test func `first of duplicate parameters is used`() {
    #expect(MediaType("a/b;charset=x;charset=y")?["charset"] == "x")
    #expect(MediaType("a/b")?["charset"] == nil)
  }

  @Test func `equality includes parameters`() {
    #expect(MediaType("a/b; c=d") == MediaType("A/B;c=d"))
    #expect(MediaType("a/b; c=d") != MediaType("a/b"))
  }

  /// The CPU time of this thread in nanoseconds, which does not depend on other load of the machine.
  static func work(_ body: () -> Void) -> Int {
    func now() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    let start = now()
    body()
    return now() - start
  }

  /// Sixteen times the text takes about sixteen times as long; a quadratic parser would take 256 times as long.
  @Test(arguments: [";", " ", "\"", "\\", "\"\\", ";x=", ";x=\"", "a", "/", "\t;", "=", ";\"", "é", "\u{301}"])
  func `hostile texts take linear time`(piece: String) {
    func time(_ count: Int) -> Int {
      let text = "a/b;x=" + String(repeating: piece, count: count / piece.utf8.count)
      return (0..<2).map { _ in Self.work { _ = MediaType(text) } }.min() ?? 0
    }
    #expect(time(64_000) < time(4_000) * 64 + 10_000_000)
  }
}
