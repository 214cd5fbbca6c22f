import Errand
import ErrandTesting
import Testing

/// Cookies that do not separate stored responses.
struct IgnoredCookieTests {
  private static func fixture(ignoring names: Set<String>, _ jar: CookieJar) -> CacheFixture {
    CacheFixture(change: {
      $0.cookies = .jar(jar)
      $0.cache.ignoredCookies = names
    }) { request, number in
      .page("\(number) \(request.fields["Cookie"] ?? "")", ["Set-Cookie": "lb=\(number); Path=/"])
    }
  }

  private static func cookie(_ name: String, _ value: String) throws -> Cookie {
    try Cookie(name, value, host: "api.example.com", path: "/")
  }

  @Test(
    arguments: [(["lb"], 1), (["lb", "other"], 1), ([], 3), (["LB"], 3), (["l"], 3), (["lb="], 3)]
      as [(Set<String>, Int)])
  func `balancer cookie does not separate responses`(names: Set<String>, asked: Int) async throws {
    let fixture = Self.fixture(ignoring: names, CookieJar())
    for number in 1...3 {
      let response = try await fixture.client.response(Page())
      if asked == 1, number > 1 { #expect(response.value == "1 " && response.origin == .cacheFresh) }
    }
    // Without the name, the second and third request send another cookie than the request of the stored response.
    #expect(fixture.asked == asked)
  }

  @Test func `ignored cookie is still sent`() async throws {
    let fixture = Self.fixture(ignoring: ["lb"], CookieJar())
    _ = try await fixture.client.send(Page())
    #expect(try await fixture.client.send(Page(name: "other")) == "2 lb=1")
    fixture.pass(61)
    #expect(try await fixture.client.send(Page()) == "3 lb=2")
  }

  @Test func `other cookies still separate responses`() async throws {
    let jar = CookieJar()
    let fixture = Self.fixture(ignoring: ["lb"], jar)
    jar.set(try Self.cookie("sid", "ada"))
    _ = try await fixture.client.send(Page())
    _ = try await fixture.client.send(Page())
    #expect(fixture.asked == 1)
    jar.set(try Self.cookie("sid", "bob"))
    #expect(try await fixture.client.send(Page()).hasPrefix("2 "))
    jar.set(try Self.cookie("sid", "ada"))
    #expect(try await fixture.client.send(Page()).hasPrefix("1 "))
    #expect(fixture.asked == 2)
  }

  @Test func `names are compared by bytes`() async throws {
    let jar = CookieJar([try Self.cookie("lbx", "1")])
    let fixture = Self.fixture(ignoring: ["lb"], jar)
    _ = try await fixture.client.send(Page())
    #expect(try await fixture.client.response(Page()).origin == .cacheFresh)
    jar.set(try Self.cookie("lbx", "2"))
    #expect(try await fixture.client.response(Page()).origin == .network)
  }

  @Test func `Cookie header still counts`() async throws {
    let fixture = Self.fixture(ignoring: ["lb"], CookieJar())
    for value in ["lb=1", "lb=2"] {
      let page = Page(headers: ["Cookie": .text(value)])
      #expect(try await fixture.client.response(page).origin == .network)
      #expect(try await fixture.client.response(page).origin == .cacheFresh)
    }
  }
}
