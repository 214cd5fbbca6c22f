import Testing

@testable import ErrandCommand

struct SecretsTests {
  @Test(arguments: [
    "Authorization", "X-Api-Key", "Cookie", "password", "access_token", "sig", "Set-Cookie", "OTP",
    "token\u{301}", "p\u{301}in", "to\u{200B}ken", "api_key2",
  ])
  func `secret names are recognized`(name: String) {
    #expect(Secrets.isSecret(name))
  }

  @Test(arguments: ["name", "Accept", "page", "version", "Host", "zipcode"])
  func `other names are not secret`(name: String) {
    #expect(!Secrets.isSecret(name))
  }

  @Test func `secrets are masked in place`() {
    #expect(Secrets.maskedTarget("/a?page=2&token=abc&x") == "/a?page=2&token=•••&x")
    #expect(Secrets.maskedTarget("/a") == "/a")
    #expect(Secrets.maskedPairs("a=1&\u{301}token=abc&b") == "a=1&\u{301}token=•••&b")
    let fragment = Secrets.maskedTarget("https://a.example/cb#access_token=abc&x=1")
    #expect(fragment == "https://a.example/cb#access_token=•••&x=1")
    #expect(Secrets.maskedTarget("/a?next=/x?token=abc#p") == "/a?next=/x?token=•••")
    #expect(Secrets.maskedTarget("/a?token=abc?def&x=1#y=2") == "/a?token=•••&x=1#y=2")
    #expect(Secrets.maskedTarget("https://u:pw@h/a@b?%74oken=abc") == "https://•••@h/a@b?%74oken=•••")
    #expect(Secrets.maskedTarget("https://h/a@b?x=u@v") == "https://h/a@b?x=u@v")
    #expect(Secrets.maskedBody("user=ada&password=p%26w") == "user=ada&password=•••")
    #expect(Secrets.maskedBody(#"{"a":[{"pin":1}],"b":2}"#) == #"{"a":[{"pin":"•••"}],"b":2}"#)
    #expect(Secrets.maskedBody("just text") == "just text")
    #expect(Secrets.shown("Basic YWRh", of: "Authorization") == "Basic •••")
    #expect(Secrets.shown("abc", of: "Authorization") == "•••")
    #expect(Secrets.shown("Basic \u{301}abc", of: "authorization") == "Basic •••")
    #expect(Secrets.shown("abc", of: "X-Api-Key") == "•••")
    #expect(Secrets.shown("abc", of: "Accept") == "abc")
  }
}
