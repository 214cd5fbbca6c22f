import ErrandHTTP
import Testing

struct HTTPURLParsingTests {
  @Test(arguments: [
    ("http://h", "http://h"), ("http://h/", "http://h/"), ("HTTP://H/P", "http://h/P"),
    ("https://h:443/", "https://h:443/"),
    ("http://h:/a", "http://h/a"), ("http://h:080/a", "http://h:80/a"), ("http://h:65535", "http://h:65535"),
    ("http://h:1", "http://h:1"), ("http://h?q", "http://h?q"), ("http://h?", "http://h?"),
    ("http://h/?", "http://h/?"),
    ("http://h#f", "http://h"), ("http://h/a#f?q", "http://h/a"), ("http://h/a?q#f", "http://h/a?q"),
    ("http://h/a b", "http://h/a%20b"), ("http://h/中?文=😀", "http://h/%E4%B8%AD?%E6%96%87=%F0%9F%98%80"),
    ("http://h/%7e%zz%", "http://h/%7e%25zz%25"), ("http://h/\"<>\\^`{|}", "http://h/%22%3C%3E%5C%5E%60%7B%7C%7D"),
    ("http://h/a?b=\"<>\\^`{|}", "http://h/a?b=%22%3C%3E%5C%5E%60%7B%7C%7D"), ("http://h/a:b@c", "http://h/a:b@c"),
    ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/"), ("http://[::1]/", "http://[::1]/"),
    ("http://[2001:DB8::FF00:42]:8443/x", "http://[2001:db8::ff00:42]:8443/x"),
    ("http://[::ffff:1.2.3.4]", "http://[::ffff:1.2.3.4]"), ("http://my_host-1.example.", "http://my_host-1.example."),
    ("http://h/a/../b/./c", "http://h/a/../b/./c"), ("http://h//a//", "http://h//a//"),
    ("http://h/[x]?a[0]=1", "http://h/%5Bx%5D?a%5B0%5D=1"),
  ])
  func `valid URLs are normalised`(text: String, expected: String) throws {
    let url = try HTTPURL(text)
    #expect(url.string == expected)
    #expect(try HTTPURL(url.string) == url)
  }

  @Test func `URL has its components`() throws {
    let url = try HTTPURL("HTTPS://API.Example:8443/v1/a?x=1&y=#z")
    #expect(url.scheme == .https && url.host == "api.example" && url.port == 8443)
    #expect(url.path == "/v1/a" && url.query == "x=1&y=")
    #expect(url.origin.description == "https://api.example:8443")
    let bare = try HTTPURL("http://h")
    #expect(bare.port == 80 && bare.path.isEmpty && bare.query == nil)
    #expect(try HTTPURL("http://h?").query?.isEmpty == true)
  }

  @Test(arguments: [
    ("http://h", "http://H:80/x", true), ("https://h", "https://h:443", true), ("http://h", "https://h", false),
    ("http://h", "http://h:81", false), ("http://h", "http://g.h", false), ("http://h", "http://h.", false),
  ])
  func `origin is scheme, host and port`(one: String, two: String, same: Bool) throws {
    #expect(try (HTTPURL(one).origin == HTTPURL(two).origin) == same)
  }

  static let port = "is not a number from 1 to 65535"
  static let colons = "contains several colons; write an IPv6 address in brackets"
  static let leadingBlank = "begins with a space or a line break; remove it"
  static let blank = "ends with a space or a line break; remove it"
  static let host = "is empty or contains a character that is not allowed in a host"
  static let scheme = "is not an absolute http or https URL; write it like https://host/path"
  static let user = "contains a user name or password; remove it and use a basic credential"
  static let control = "holds a control character such as a line break; remove it"

  @Test(arguments: [
    ("", scheme), ("h", scheme), ("/a", scheme), ("//h", scheme), ("http:", scheme), ("http:/h", scheme),
    ("http://", scheme), ("ftp://h", scheme), ("httpx://h", scheme), (" http://h", leadingBlank), ("h:80/a", scheme),
    ("\nhttps://h/v1", leadingBlank),
    ("http:///a", host), ("http://?a", host), ("http://#a", host), ("http://:80", host), ("http://h h/", host),
    ("http://h\r\n/", host), ("http://h\0/", host), ("http://h\t/", host), ("http://h%20h/", host),
    ("http://h\\o/", host),
    ("http://[::1", host), ("http://[]/", host), ("http://[::1]x/", host), ("http://[fe80::1%25eth0]/", host),
    ("http://[g::1]/", host), ("http://a,b/", host), ("http://a[b]/", host), ("http://h!/", host),
    ("http://h:0/", port), ("http://h:65536/", port), ("http://h:-1/", port), ("http://h:+80/", port),
    ("http://h:8 0/", port), ("http://h:80x/", port), ("http://h:99999999999999999999/", port),
    ("http://a:b:1/", colons),
    ("http://::1/", colons), ("http://fe80::1:8080/v1", colons), ("http://h:80 ", blank), ("http://h\n", blank),
    ("http://[::1]:0/", port), ("http://u@h/", user), ("http://u:p@h/", user), ("http://@h/", user),
    ("http://u:p@h:80@i/", user), ("http://h/a\r\nb", control), ("http://h/a?b\nc", control), ("http://h/\0", control),
    ("http://h/\u{7F}", control),
  ])
  func `errors name the invalid part`(text: String, sentence: String) {
    let error = #expect(throws: HTTPURL.Invalid.self) { _ = try HTTPURL(text) }
    let message = error.map(\.description) ?? ""
    #expect(message.hasSuffix(sentence))
    #expect(!message.contains { $0.isNewline } && !message.contains("\0"))
  }

  @Test(arguments: [
    ("http://u:MARKER@h/", "http://•••@h/"), ("http://MARKER@h/?a=MARKER", "http://•••@h/?a=•••"),
    ("ftp://u:MARKER@h/", "ftp://•••@h/"), ("http://h:x/?k=MARKER&l", "http://h:x/?k=•••&•••"),
    ("http://u:MARKER@h\u{1}/", "http://•••@h"), ("http://u:x/MARKER@h/", "http://•••@h/"),
    ("http://u:x?MARKER@h/", "http://•••@h/"), ("http://u:x#MARKER@h/", "http://•••@h/"),
  ])
  func `errors hide secrets`(text: String, shown: String) {
    let error = #expect(throws: HTTPURL.Invalid.self) { _ = try HTTPURL(text) }
    #expect(error?.description.contains("MARKER") == false)
    #expect(error?.description.contains(shown) == true)
  }

  @Test(arguments: [
    ("http://bücher.example/", "xn--bcher-kva.example"), ("http://例え.jp/", "xn--r8jz45g.jp"),
    ("http://ＥＸＡＭＰＬＥ.com/", "example.com"), ("http://中文.cn:8080/a", "xn--fiq228c.cn"),
  ])
  func `international hosts become ASCII`(text: String, host: String) throws {
    #expect(try HTTPURL(text).host == host)
  }

  @Test(arguments: [
    "http://good.example／evil/", "http://a＠b.example/", "http://a？b.example/", "http://a℀b.example/", "http://a＃b/",
    "http://bü cher.example/", "http://bü%20cher/", "http://ü\\@h/", "http://ü：80/", "http://ü\u{0}/",
  ])
  func `lookalike separators cannot split hosts`(text: String) {
    let host = try? HTTPURL(text).host
    #expect(
      host == nil || host?.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") } == true)
  }

  @Test func `description masks the query`() throws {
    let url = try HTTPURL("http://h/a?token=MARKER&empty=&MARKER")
    for text in [url.description, url.debugDescription, "\(url)", String(reflecting: url)] {
      #expect(text == "http://h/a?token=•••&empty=&•••")
    }
    var dumped = ""
    dump(url, to: &dumped)
    #expect(!dumped.contains("MARKER"))
  }
}
