import Testing

@testable import ErrandRedis

/// The names of the keys in Redis.
struct RedisLayoutTests {
  @Test(arguments: [
    ("plain", "plain:*"), ("a*b", "a\\*b:*"), ("[a-b]?", "\\[a\\-b\\]\\?:*"), ("\\^", "\\\\\\^:*"),
    ("a*\u{301}", "a\\*\u{301}:*"),
  ])
  func `pattern escapes the prefix`(_ prefix: String, _ pattern: String) {
    #expect(Array(RedisLayout(prefix: prefix, span: 1_000).pattern("*").utf8) == Array(pattern.utf8))
  }
}
