@testable import ErrandCore
import Testing

/// A URL with its base URL replaced by another one.
struct HostListTests {
  private func list(_ base: String, _ fallbacks: String...) throws -> HostList {
    try #require(try HostList(ServerEnvironment(baseURL: base, fallbackURLs: fallbacks)))
  }

  @Test(arguments: [
    ("https://a/v1", "https://b:8443/api/v1", "https://a/v1/users/7?x=1", "https://b:8443/api/v1/users/7?x=1"),
    ("https://a/v1/", "https://b/", "https://a/v1/users", "https://b/users"),
    ("https://a", "https://b/x", "https://a?q=1", "https://b/x?q=1"),
    ("https://a", "http://b", "https://a", "http://b"),
  ])
  func `path moves to another base URL`(base: String, other: String, url: String, wanted: String) throws {
    let list = try list(base, other)
    let rest = try #require(list.rest(of: HTTPURL(url)))
    let made = try #require(list.url(rest, at: 1))
    let parsed = try HTTPURL(wanted)
    #expect(made.string == wanted && made.origin == parsed.origin)
    #expect(made.path == parsed.path && made.query == parsed.query)
    #expect(list.home(of: made.origin) == (try HTTPURL(base).origin))
  }

  @Test(arguments: ["https://a/v2/x", "https://a/v10", "https://b/v1/x", "http://a/v1/x", "https://a/"])
  func `URLs outside the base are unchanged`(url: String) throws {
    #expect(try list("https://a/v1", "https://b/v1").rest(of: HTTPURL(url)) == nil)
  }

  @Test func `unlisted origin is returned unchanged`() throws {
    let stranger = try HTTPURL("https://c").origin
    #expect(try list("https://a", "https://b").home(of: stranger) == stranger)
  }

  @Test(arguments: [
    ("https://b/v1/users/7?x=1", "https://a/api/users/7?x=1"), ("https://b/v2/users", "https://b/v2/users"),
    ("https://c/x/y", "https://a/api/y"), ("https://c/y", "https://a/api/y"), ("https://c", "https://a/api"),
    ("https://a/api/users", "https://a/api/users"), ("https://d/v1/users", "https://d/v1/users"),
  ])
  func `URL of a fallback server moves home`(url: String, wanted: String) throws {
    let list = try list("https://a/api", "https://b/v1", "https://c", "https://c/x")
    let home = list.homeURL(of: try HTTPURL(url))
    let parsed = try HTTPURL(wanted)
    #expect(home.string == wanted && home.origin == parsed.origin)
    #expect(home.path == parsed.path && home.query == parsed.query)
  }

  @Test(arguments: [["b"], ["https://b?x=1"], ["https://a"], ["https://b", "https://b/"]])
  func `unusable server list is refused`(fallbacks: [String]) {
    let error = #expect(throws: APIError.self) {
      try HostList(ServerEnvironment(baseURL: "https://a", fallbackURLs: fallbacks))
    }
    #expect(error?.stage == .build && error?.code == .invalidURL)
  }

  @Test func `single server makes no list`() throws {
    #expect(try HostList(ServerEnvironment(baseURL: "https://a")) == nil)
  }
}
