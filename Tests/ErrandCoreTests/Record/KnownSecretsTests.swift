import Foundation
import Testing

@testable import ErrandCore

struct KnownSecretsTests {
  private func request(
    _ query: String = "", _ fields: [HTTPField] = [], body: String? = nil
  ) throws -> HTTPRequest {
    try HTTPRequest(
      method: .post, url: "http://h.example/p" + query, fields: HTTPFields(fields),
      body: body.map { HTTPBody(Data($0.utf8)) })
  }

  @Test(arguments: [
    (HTTPField(.authorization, "Bearer abcd-efgh"), "no abcd-efgh here", "no ••• here"),
    (HTTPField(.authorization, "Bearer abcd-efgh"), "a Bearer is needed", "a Bearer is needed"),
    (HTTPField(.authorization, "Basic dXNlcjpwYXNzd29yZA=="), "user, password", "user, •••"),
    (HTTPField(.cookie, "sid=12345; theme=night"), "12345 and night and sid", "••• and night and sid"),
    (HTTPField(.cookie, "sid=12345"), "112345, 12345, (12345)", "112345, •••, (•••)"),
    (HTTPField("X-Key", #"a"b\c"#, isSecret: true), #"{"x":"a\"b\\c"}"#, #"{"x":"•••"}"#),
    (HTTPField("X-Key", "one two", isSecret: true), "one two, one, two", "•••, one, two"),
    (HTTPField("X-Key", "abc", isSecret: true), "abc is a part of many words", "abc is a part of many words"),
    (HTTPField("X-Plain", "seen"), "seen", "seen"),
    // A combining accent after a separator forms another character and must hide nothing.
    (HTTPField(.cookie, "sid=12345;\u{301}theme=night"), "12345", "•••"),
    (HTTPField(.cookie, "sid=\u{301}12345"), "\u{301}12345", "•••"),
    (HTTPField(.authorization, "Bearer \u{301}abcd-efgh"), "no \u{301}abcd-efgh here", "no ••• here"),
  ])
  func `secrets in header fields are masked`(field: HTTPField, text: String, shown: String) throws {
    #expect(KnownSecrets(try request("", [field])).masked(text) == shown)
  }

  @Test func `response cookies are masked`() throws {
    let head = ResponseHead(status: 200, fields: HTTPFields([HTTPField(.setCookie, "sid=12345; Path=/shop")]))
    let response = HTTPResponse(head: head, url: try HTTPURL("http://h.example/"))
    #expect(KnownSecrets(nil, response).masked("12345 at /shop") == "••• at /shop")
  }

  @Test func `secret names in query and body are masked`() throws {
    let query = KnownSecrets(try request("?token=a%20b%20c&city=Hamburg&q"))
    #expect(query.masked("a b c, a%20b%20c, Hamburg") == "•••, •••, Hamburg")
    #expect(KnownSecrets(try request("?token%CC%81=12345")).masked("12345") == "•••")
    let form = KnownSecrets(
      try request(
        "", [HTTPField(.contentType, "application/x-www-form-urlencoded")], body: "password=open+sesame&name=Ali+Baba"))
    #expect(form.masked("open sesame, Ali Baba") == "•••, Ali Baba")
    let json = KnownSecrets(
      try request(
        "", [HTTPField(.contentType, "application/json")],
        body: #"{"user":{"name":"Ali Baba","password":["sesame"]},"secret":{"inner":"treasure"}}"#))
    #expect(json.masked("Ali Baba, sesame, treasure") == "Ali Baba, •••, •••")
  }

  @Test(arguments: [
    ("application/x-www-form-urlencoded", "password=sesame"), ("application/json", #"{"password":"sesame"}"#),
  ])
  func `repeated content type hides secrets`(type: String, body: String) throws {
    let field = HTTPField(.contentType, type)
    #expect(KnownSecrets(try request("", [field, field], body: body)).masked("open sesame") == "open •••")
  }

  @Test func `ordinary words are not masked`() throws {
    let query = KnownSecrets(try request("?sort_key=name&session=true&otp=482913"))
    #expect(query.masked("user.name is true, 482913 is not 4829131") == "user.name is true, ••• is not 4829131")
    let json = KnownSecrets(
      try request("", [HTTPField(.contentType, "application/json")], body: #"{"pin":4711,"password":"name"}"#))
    #expect(json.masked("filename 47110: name, 4711") == "filename 47110: •••, •••")
  }

  @Test func `longer secret is masked first`() throws {
    let fields = [HTTPField("A", "open", isSecret: true), HTTPField("B", "open sesame", isSecret: true)]
    #expect(KnownSecrets(try request("", fields)).masked("open sesame, open") == "•••, •••")
  }

  @Test func `credential is masked before it is sent`() {
    var secrets = KnownSecrets()
    secrets.add(.basic(user: "user", password: "sesame"))
    #expect(secrets.masked("user:sesame, sesame, Basic dXNlcjpzZXNhbWU=") == "•••, •••, •••")
  }

  @Test func `secret data are masked in Base64`() {
    struct Login: Encodable { let token = Data("abcd-efgh".utf8) }
    var secrets = KnownSecrets()
    secrets.add(Arguments(encoding: Login()))
    #expect(secrets.masked("no YWJjZC1lZmdo here") == "no ••• here")
  }

  @Test(arguments: ["p%40ss%2Fword%201", "p%40ss%2fword%201", "p%40ss%2Fword+1", #"p@ss\/word 1"#, "p@ss/word 1"])
  func `encoded forms of a secret are masked`(form: String) throws {
    let secrets = KnownSecrets(try request("", [HTTPField("A", "p@ss/word 1", isSecret: true)]))
    #expect(secrets.masked("at \(form), again") == "at •••, again")
  }

  @Test func `short secret is masked percent-encoded`() throws {
    let secrets = KnownSecrets(try request("?otp=48%3D29"))
    #expect(secrets.masked("48=29, 48%3D29, 48%3d29, 48%3D291") == "•••, •••, •••, 48%3D291")
  }

  @Test func `combining accent does not hide a secret`() throws {
    let field = HTTPField("A", "sesame", isSecret: true)
    #expect(!KnownSecrets(try request("", [field])).masked("sesame\u{301}").contains("sesam"))
  }

  @Test(arguments: [
    (["12345678", "5678-90ab"], "a 12345678-90ab b", "a ••• b"), (["12345678"], "1234567812345678", "••••••"),
    (["aaaaaaaa"], "aaaaaaaaaaa", "•••"), (["abcdefgh", "abcdefghij"], "abcdefghi abcdefghij", "•••i •••"),
    (["abcdefgh"], "abcd", "abcd"), (["abcdefgh"], "xabcdefghx", "x•••x"), (["abcdefgh"], "", ""),
  ])
  func `all parts of overlapping secrets are masked`(secrets: [String], text: String, shown: String) {
    var known = KnownSecrets()
    for secret in secrets { known.add(secret) }
    #expect(known.masked(text) == shown)
  }

  @Test func `many secrets are masked in one pass`() {
    var known = KnownSecrets()
    for number in 1...5_000 { known.add("\(number)-value-of-a-cookie") }
    let text = String(repeating: "text without a secret, 4077-value-of-a-cookie, ", count: 5_000)
    #expect(known.masked(text) == String(repeating: "text without a secret, •••, ", count: 5_000))
  }

  @Test func `text made against the search shows only its length`() {
    var known = KnownSecrets()
    for number in 1...100 { known.add(String(repeating: "a", count: 1_000) + "\(number)") }
    #expect(known.masked(String(repeating: "a", count: 100_000)) == "••• 100000 bytes")
  }
}
