import ErrandHTTP
import Foundation
import Testing

struct HostPatternTests {
  @Test(arguments: [
    ("api.example.com", "api.example.com", true), ("API.example.com", "api.example.com", true),
    ("api.example.com", "example.com", false), ("api.example.com", "x.api.example.com", false),
    (".example.com", "api.example.com", true), (".example.com", "a.b.example.com", true),
    (".example.com", "example.com", false), (".example.com", "badexample.com", false), ("[::1]", "[::1]", true),
    ("api.example.com", "api.example.com.", true), (".example.com", "api.example.com.", true),
  ])
  func `pattern covers its hosts`(pattern: String, host: String, isCovered: Bool) {
    #expect(HostPattern(pattern).covers(host) == isCovered)
    #expect(HostPattern(pattern).isValid)
  }

  @Test(arguments: [
    ("[::1]", "[0:0:0:0:0:0:0:1]", true), ("[0::1]", "[::1]", true), ("[FE80::A]", "[fe80:0::000a]", true),
    ("[::ffff:1.2.3.4]", "[::ffff:102:304]", true), ("[::1]", "[::2]", false), ("[::1]", "::1", false),
    ("[::1]", "[::1::]", false),
  ])
  func `IPv6 addresses match in any text`(pattern: String, host: String, isCovered: Bool) {
    #expect(HostPattern(pattern).covers(host) == isCovered)
  }

  @Test func `texts of one address are one pattern`() {
    let pins = ["[::1]", "[0:0::1]"].map { host in
      PublicKeyPins(
        host: host, sha256: [7, 8].map { Data(repeating: $0, count: 32).base64EncodedString() })
    }
    #expect(PublicKeyPins.fault(of: [pins[0]]) == nil)
    #expect(PublicKeyPins.fault(of: pins)?.contains("twice") == true)
  }

  @Test(arguments: [
    "", ".", "..", "a..b", "a.", "*.example.com", "a b", "https://a", "a:443", "a/b", "a\nb", "[]", "[::1", "bücher.de",
    "[localhost]", "[abc]", "[::1::]", "[1.2.3.4]", "[fe80::1%eth0]", "[::1]/[::1]", "[::1]:443",
  ])
  func `malformed pattern is invalid`(pattern: String) {
    #expect(!HostPattern(pattern).isValid)
  }

  @Test(arguments: [
    ("127.0.0.1:8931", "127.0.0.1"), ("http://h:1", "h"), ("HTTPS://API.Example.com/v1?a=b:c", "api.example.com"),
    ("api.example.com/v1", "api.example.com"), ("api.example.com.", "api.example.com"), ("h:", "h"),
    ("wss://h:1/p", "h"), ("[::1]", "[::1]"), ("[::1]:8080", "[::1]"), ("http://[FE80::A]:80/x", "[fe80::a]"),
    ("FE80::A", "[fe80::a]"), (".Example.com:443", ".example.com"), ("https://.example.com/", ".example.com"),
  ])
  func `scheme, port and path are ignored`(text: String, pattern: String) {
    #expect(HostPattern.ignoringRest(of: text) == HostPattern(pattern))
    #expect(HostPattern.ignoringRest(of: text).isValid)
  }

  @Test(arguments: ["", ".", "a b", "*.example.com", "ada@h", "h:port", "http://", "://h", "a\nb"])
  func `text without host covers no host`(text: String) {
    let pattern = HostPattern.ignoringRest(of: text)
    for host in ["h", "a", "b", "example.com", "api.example.com"] { #expect(!pattern.covers(host)) }
  }

  @Test func `more specific patterns come first`() {
    let patterns = [".com", "a.example.com", ".example.com"].map(HostPattern.init)
    #expect(patterns.sorted { $0.specificity > $1.specificity } == [patterns[1], patterns[2], patterns[0]])
  }
}
