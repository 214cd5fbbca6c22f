import ErrandHTTP
import Testing

struct HostPatternTests {
  @Test(arguments: [
    ("api.example.com", "api.example.com", true), ("API.example.com", "api.example.com", true),
    ("api.example.com", "example.com", false), ("api.example.com", "x.api.example.com", false),
    (".example.com", "api.example.com", true), (".example.com", "a.b.example.com", true),
    (".example.com", "example.com", false), (".example.com", "badexample.com", false), ("[::1]", "[::1]", true),
  ])
  func `pattern covers its hosts`(pattern: String, host: String, isCovered: Bool) {
    #expect(HostPattern(pattern).covers(host) == isCovered)
    #expect(HostPattern(pattern).isValid)
  }

  @Test(arguments: [
    "", ".", "..", "a..b", "a.", "*.example.com", "a b", "https://a", "a:443", "a/b", "a\nb", "[]", "[::1", "bücher.de",
  ])
  func `malformed pattern is invalid`(pattern: String) {
    #expect(!HostPattern(pattern).isValid)
  }

  @Test func `more specific patterns come first`() {
    let patterns = [".com", "a.example.com", ".example.com"].map(HostPattern.init)
    #expect(patterns.sorted { $0.specificity > $1.specificity } == [patterns[1], patterns[2], patterns[0]])
  }
}
