@testable import ErrandCore
import ErrandPublicSuffix
import Testing

/// The list of the system, on Linux; elsewhere every name counts as a suffix.
struct PublicSuffixListTests {
  @Test(arguments: [
    "com", "uk", "co.uk", "github.io", "io", "xn--p1ai", "xn--55qx5d.cn", "localhost", "unheardof", "ck", "www2.ck",
  ])
  func `strangers live below`(_ domain: String) {
    #expect(PublicSuffixList.system.isPublicSuffix(domain))
  }

  #if os(Linux)
    @Test(arguments: [
      "example.com", "example.co.uk", "ada.github.io", "a.xn--p1ai", "example.xn--55qx5d.cn", "corp.unheardof",
      "www.ck",
      "xn--bcher-kva.example",
    ])
    func `one owner lives below`(_ domain: String) {
      #expect(!PublicSuffixList.system.isPublicSuffix(domain))
    }

    @Test func `jar shares by the list`() throws {
      let jar = CookieJar(publicSuffixes: PublicSuffixList.system)
      let url = try HTTPURL("https://login.example.co.uk/")
      let refused = jar.take(
        [
          "a=1; Domain=example.co.uk", "b=2; Domain=co.uk", "c=3; Domain=.uk", "d=4; Domain=login.example.co.uk", "e=5",
        ],
        from: url, removalCount: 0)
      #expect(refused == [.publicSuffix, .publicSuffix])
      #expect(jar.field(for: try HTTPURL("https://api.example.co.uk/")) == "a=1")
      #expect(jar.field(for: try HTTPURL("https://x.login.example.co.uk/")) == "a=1; d=4")
      #expect(jar.field(for: try HTTPURL("https://other.co.uk/")) == nil)
    }
  #endif

  @Test func `cookies of an address are host-only`() throws {
    let jar = CookieJar(publicSuffixes: PublicSuffixList.system)
    let refused = jar.take(
      ["a=1; Domain=127.0.0.1", "b=2; Domain=0.0.1"], from: try HTTPURL("http://127.0.0.1/"), removalCount: 0)
    #expect(refused == [.foreignDomain] && jar.all.allSatisfy(\.isHostOnly))
    #expect(jar.field(for: try HTTPURL("http://127.0.0.1:81/")) == "a=1")
  }

  @Test func `suffix itself may have a cookie`() throws {
    let jar = CookieJar(publicSuffixes: PublicSuffixList.system)
    jar.take(["a=1; Domain=github.io"], from: try HTTPURL("https://github.io/"), removalCount: 0)
    #expect(jar.field(for: try HTTPURL("https://github.io/")) == "a=1")
    #expect(jar.field(for: try HTTPURL("https://ada.github.io/")) == nil)
  }
}
