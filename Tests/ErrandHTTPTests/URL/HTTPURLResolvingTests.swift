import ErrandHTTP
import Testing

struct HTTPURLResolvingTests {
  /// RFC 3986 sections 5.4.1 and 5.4.2, without fragments, because fragments are never sent.
  @Test(arguments: [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
    ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
    ("../../", "http://a/"), ("../../g", "http://a/g"),
    ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/../x", "http://a/b/c/g"),
  ])
  func `RFC 3986 examples resolve`(reference: String, expected: String) throws {
    #expect(try HTTPURL("http://a/b/c/d;p?q").resolving(reference).string == expected)
  }

  @Test(arguments: [
    ("http://h", "g", "http://h/g"), ("http://h", "?x", "http://h?x"), ("http://h?q", "g", "http://h/g"),
    ("http://h:81/a", "b", "http://h:81/b"), ("https://h/a/", "b", "https://h/a/b"),
    ("https://h/a", "//o/b", "https://o/b"),
    ("http://h/a", "HTTPS://O/b", "https://o/b"), ("http://h/a", "b c", "http://h/b%20c"),
    ("http://h/a", "中", "http://h/%E4%B8%AD"),
    ("http://h/a", "b?u=http://o", "http://h/b?u=http://o"), ("http://h/a", "/..//o/b", "http://h//o/b"),
    ("http://h/a", "./b:c", "http://h/b:c"), ("http://h/a", "%2e%2e/b", "http://h/%2e%2e/b"),
    ("http://h/a", "http://u:p@o/b", "http://o/b"), ("http://h/a", "//u:p@o/b", "http://o/b"),
    ("http://h/a", "http://u@x@o/b", "http://o/b"), ("http://h/a", "/b@c", "http://h/b@c"),
    ("http://h/a", "http://o/b@c", "http://o/b@c"), ("http://h/a", "http://o?x=u@v", "http://o?x=u@v"),
    ("http://h/a", "http://o#u@v", "http://o"),
    ("http://h/a", "http://o/x/../b", "http://o/b"), ("http://h/a", "//o/x/./../b?c/../d", "http://o/b?c/../d"),
    ("http://h/a", "https://u@o:81/../x/..", "https://o:81/"), ("http://h/a", "//o/.b/c.", "http://o/.b/c."),
    // A slash is a separator even if a combining accent follows it.
    ("http://h/", "http://good.example/\u{301}@evil.example/", "http://good.example/%CC%81@evil.example/"),
    ("http://h/", "http://o?\u{301}@evil.example", "http://o?%CC%81@evil.example"),
    ("http://h/a/b", "/\u{301}c/../d", "http://h/d"), ("http://h/a/b", "?\u{301}", "http://h/a/b?%CC%81"),
  ])
  func `references are resolved`(base: String, reference: String, expected: String) throws {
    #expect(try HTTPURL(base).resolving(reference).string == expected)
  }

  @Test(arguments: [
    "ftp://o/a", "file:///etc/passwd", "data:text/plain,x", "javascript:alert(1)", "gopher://o", "g:h", "http:g",
    "http:",
    "http://", "//", "//:80", "http://[::1", "http://o:0/", "a\r\nb", "/a\u{0}", "http://u:p@/",
  ])
  func `unusable references are refused`(reference: String) throws {
    let base = try HTTPURL("http://h/a")
    let error = #expect(throws: HTTPURL.Invalid.self) { _ = try base.resolving(reference) }
    #expect(error?.description.contains { $0.isNewline } == false)
  }
}
