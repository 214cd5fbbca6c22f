import Testing

@testable import ErrandCore

/// Base URLs may have keys in their queries, and configurations are often printed.
struct BaseURLMaskTests {
  private static let url = "https://h.example/v1?key=s3cret"

  private static func shown(_ value: some Any) -> String {
    var text = "\(value) \(String(reflecting: value))"
    dump(value, to: &text)
    return text
  }

  @Test func `environment description masks the query`() {
    let environment = ServerEnvironment(
      "live", baseURL: Self.url, cdnURL: Self.url, fallbackURLs: [Self.url, "https://other.example"])
    let text = Self.shown(environment)
    #expect(!text.contains("s3cret") && text.contains("https://other.example"))
    #expect(environment.description == "live: https://h.example/v1?key=•••")
    var configuration = ClientConfiguration(baseURL: Self.url)
    configuration.servers.others = [environment]
    #expect(!Self.shown(configuration).contains("s3cret"))
  }

  @Test func `environments differ in bytes`() {
    let one = ServerEnvironment("caf\u{e9}", baseURL: Self.url, cdnURL: "a", fallbackURLs: ["b"])
    var others = [ServerEnvironment](repeating: one, count: 4)
    others[0].name = "cafe\u{301}"
    others[1].baseURL = "https://h.example/caf\u{e9}"
    others[2].cdnURL = nil
    others[3].fallbackURLs = ["cafe\u{301}"]
    #expect(Set(others + [one, one]).count == 5)
    var (composed, decomposed) = (one, one)
    (composed.baseURL, decomposed.baseURL) = ("https://h.example/caf\u{e9}", "https://h.example/cafe\u{301}")
    #expect(composed != decomposed && composed == others[1])
  }

  @Test func `family description masks the query`() {
    let family = RequestFamily("shop", baseURL: Self.url, cdnURL: Self.url, headers: ["X-Key": .secret("s3cret")])
    let text = Self.shown(family)
    #expect(!text.contains("s3cret") && text.contains("X-Key") && family.baseURL == Self.url)
    #expect(family.description == "shop: https://h.example/v1?key=•••")
  }

  @Test func `family dump shows no argument's value`() {
    let text = Self.shown(RequestFamily("shop", arguments: ["token": "s3cret", "list": ["s3cret"]]))
    #expect(!text.contains("s3cret") && text.contains("token") && text.contains("list"))
  }

  @Test func `one-off shows no argument's value`() {
    let request = OneOff(
      .post, "/p?code=s3cret", as: String.self, arguments: ["token": "s3cret"], body: .form(["password": "s3cret"]),
      headers: ["X-Key": .secret("s3cret")])
    let text = Self.shown(request)
    #expect(!text.contains("s3cret") && text.contains("token") && text.contains("X-Key"))
    #expect(request.description == "POST /p?code=•••")
  }

  @Test func `filter target shows no query's value`() {
    let target = URLFilter.Target(base: Self.url, path: "/p?code=s3cret", arguments: ["token": "s3cret"])
    let text = Self.shown(target)
    #expect(!text.contains("s3cret") && text.contains("token"))
    #expect(target.description == "https://h.example/v1?key=••• /p?code=•••")
  }
}
