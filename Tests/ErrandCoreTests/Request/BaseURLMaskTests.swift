import Testing

@testable import ErrandCore

/// Base URLs may have keys in their queries, and configurations are often printed.
@Suite struct BaseURLMaskTests {
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
    configuration.environments = [environment]
    #expect(!Self.shown(configuration).contains("s3cret"))
  }

  @Test func `family description masks the query`() {
    let family = RequestFamily("shop", baseURL: Self.url, cdnURL: Self.url, headers: ["X-Key": .secret("s3cret")])
    let text = Self.shown(family)
    #expect(!text.contains("s3cret") && text.contains("X-Key") && family.baseURL == Self.url)
    #expect(family.description == "shop: https://h.example/v1?key=•••")
  }
}
