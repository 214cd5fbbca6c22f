import ErrandHTTP
import Foundation
import Testing

/// The decisions about `Proxy-Authorization`.
struct ProxyAuthenticationTests {
  private static let basic = "Basic realm=\"door\""

  private static func digest(_ nonce: String = "n1", _ extra: String = "") -> String {
    "Digest realm=\"door\", qop=\"auth\", algorithm=MD5, nonce=\"\(nonce)\"\(extra)"
  }

  private static func fields(_ challenges: [String]) -> HTTPFields {
    HTTPFields(challenges.map { HTTPField("Proxy-Authenticate", $0) })
  }

  /// The hashes of these tests are as long as their input, and begin with it.
  private static func authentication(_ user: String = "ada", hashes: [String] = ["sha-256", "md5"]) throws
    -> ProxyAuthentication
  {
    let credentials = try #require(ProxyCredentials(user, "opensesame"))
    return ProxyAuthentication(credentials, hashes: hashes.map { DigestHash(name: $0) { $0 } })
  }

  /// Asks for an answer, and returns whether the proxy's challenges lead to another one.
  private static func isAnswered(_ authentication: inout ProxyAuthentication, _ challenges: [String]) -> Bool {
    let answer = authentication.answer(method: "CONNECT", target: "one.example:443")
    return authentication.isAnswerable(fields(challenges), after: answer)
  }

  private static func value(_ authentication: inout ProxyAuthentication) -> String? {
    authentication.answer(method: "CONNECT", target: "one.example:443").value
  }

  @Test func `first request has no credentials`() throws {
    var authentication = try Self.authentication()
    #expect(Self.value(&authentication) == nil && authentication.mayAskAgain)
    #expect(ProxyCredentials(nil, nil) == nil)
  }

  @Test func `Digest is preferred to Basic`() throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.basic, Self.digest()]))
    let value = try #require(Self.value(&authentication))
    #expect(value.hasPrefix("Digest username=\"ada\"") && value.contains("uri=\"one.example:443\""))
    #expect(value.contains("nc=00000001") && !value.contains("opensesame"))
    #expect(Self.value(&authentication)?.contains("nc=00000002") == true)
  }

  @Test func `Basic is used alone`() throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.basic]))
    #expect(Self.value(&authentication) == "Basic \(Data("ada:opensesame".utf8).base64EncodedString())")
    #expect(!Self.isAnswered(&authentication, [Self.basic]))
    #expect(Self.value(&authentication) == nil)
  }

  @Test func `proxy may demand Digest later`() throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.basic]))
    #expect(Self.isAnswered(&authentication, [Self.basic, Self.digest()]))
    #expect(Self.value(&authentication)?.hasPrefix("Digest") == true)
    for _ in 1...2 {
      #expect(!Self.isAnswered(&authentication, [Self.basic]), "the password is not sent to whoever asks then")
      #expect(Self.value(&authentication) == nil)
    }
    #expect(Self.isAnswered(&authentication, [Self.basic, Self.digest("n2")]))
    #expect(Self.value(&authentication)?.hasPrefix("Digest") == true)
  }

  @Test(arguments: [digest(), "Digest realm=\"door\", nonce=\"n2\", stale=true"])
  func `forged challenge does not lead to Basic`(challenge: String) throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    authentication.accepted(HTTPFields(), after: authentication.answer(method: "GET", target: "/"))
    for forged in [challenge, Self.basic, Self.basic] {
      #expect(!Self.isAnswered(&authentication, [forged]))
      #expect(Self.value(&authentication)?.hasPrefix("Digest ") == true, "the session stays")
    }
  }

  @Test func `new session is as strong as accepted one`() throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    authentication.accepted(HTTPFields(), after: authentication.answer(method: "GET", target: "/"))
    #expect(Self.isAnswered(&authentication, [Self.digest("n2")]))
    for nonce in ["n3", "n4"] {
      let weak = "Digest realm=\"door\", nonce=\"\(nonce)\", stale=true"
      #expect(!Self.isAnswered(&authentication, [weak]))
    }
    #expect(Self.value(&authentication) == nil)
    #expect(Self.isAnswered(&authentication, [Self.digest("n5")]))
  }

  @Test func `late challenge does not replace Digest by Basic`() throws {
    var authentication = try Self.authentication()
    let early = authentication.answer(method: "GET", target: "/")
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    let isAnswered = authentication.isAnswerable(Self.fields([Self.basic]), after: early)
    #expect(isAnswered && Self.value(&authentication)?.hasPrefix("Digest ") == true)
  }

  @Test func `late challenge does not weaken a session`() throws {
    var authentication = try Self.authentication()
    let early = authentication.answer(method: "GET", target: "/")
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    authentication.accepted(HTTPFields(), after: authentication.answer(method: "GET", target: "/"))
    let weak = Self.fields(["Digest realm=\"door\", nonce=\"n2\""])
    let isAnswered = authentication.isAnswerable(weak, after: early)
    #expect(!isAnswered && Self.value(&authentication)?.contains("nonce=\"n1\"") == true)
  }

  @Test(arguments: [
    [], ["Negotiate"], ["NTLM", "Bearer realm=\"a\""], ["Digest realm=\"a\", nonce=\"b\", algorithm=X"],
  ])
  func `unknown scheme is not answered`(challenges: [String]) throws {
    var authentication = try Self.authentication()
    #expect(!Self.isAnswered(&authentication, challenges))
    #expect(Self.value(&authentication) == nil)
  }

  @Test func `missing hash leaves Basic`() throws {
    var authentication = try Self.authentication(hashes: ["sha-256"])
    #expect(Self.isAnswered(&authentication, [Self.basic, Self.digest()]))
    #expect(Self.value(&authentication)?.hasPrefix("Basic") == true)
  }

  @Test func `wrong password is not sent again`() throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    #expect(!Self.isAnswered(&authentication, [Self.digest("n2")]))
    #expect(Self.value(&authentication) == nil)
  }

  @Test func `stale nonce is replaced`() throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    #expect(Self.isAnswered(&authentication, [Self.digest("n2", ", stale=TRUE")]))
    let value = Self.value(&authentication)
    #expect(value?.contains("nonce=\"n2\"") == true && value?.contains("nc=00000001") == true)
  }

  @Test func `accepted session outlives the nonce`() throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    let answer = authentication.answer(method: "GET", target: "http://one.example/")
    authentication.accepted(HTTPFields(), after: answer)
    #expect(Self.isAnswered(&authentication, [Self.digest("n2")]), "the proxy was restarted")
    #expect(!Self.isAnswered(&authentication, [Self.digest("n3")]))
  }

  @Test func `requests with one challenge share its count`() throws {
    var authentication = try Self.authentication()
    let answers = (0..<2).map { _ in authentication.answer(method: "GET", target: "/") }
    for answer in answers {
      let isAnswered = authentication.isAnswerable(Self.fields([Self.digest()]), after: answer)
      #expect(isAnswered)
    }
    for count in ["nc=00000001", "nc=00000002"] { #expect(Self.value(&authentication)?.contains(count) == true) }
  }

  @Test(arguments: [["Basic realm=\"door\""], []])
  func `accepted session is not given up for Basic`(challenges: [String]) throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    let answer = authentication.answer(method: "GET", target: "/")
    authentication.accepted(HTTPFields(), after: answer)
    let isAnswered = authentication.isAnswerable(Self.fields(challenges), after: answer)
    #expect(!isAnswered)
    #expect(Self.value(&authentication)?.hasPrefix("Digest ") == true)
    let isEarlyAnswered = try authentication.isAnswerable(Self.fields(challenges), after: Self.early())
    #expect(isEarlyAnswered)
    #expect(Self.value(&authentication)?.hasPrefix("Digest ") == true)
  }

  /// The answer of a request that was sent before the proxy had asked for credentials.
  private static func early() throws -> ProxyAuthentication.Answer {
    var authentication = try authentication()
    return authentication.answer(method: "GET", target: "/")
  }

  @Test func `concurrent refusal uses the newer session`() throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    let first = authentication.answer(method: "GET", target: "/")
    let second = authentication.answer(method: "GET", target: "/")
    authentication.accepted(HTTPFields(), after: first)
    let answers = [
      authentication.isAnswerable(Self.fields([Self.digest("n2")]), after: first),
      authentication.isAnswerable(Self.fields([Self.digest("n3")]), after: second),
    ]
    #expect(answers == [true, true])
  }

  @Test(arguments: ["nextnonce=\"n2\"", "qop=auth, nextnonce=\"n2\"", "rspauth=\"a,b\", NextNonce=n2"])
  func `next nonce is used`(information: String) throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    let answer = authentication.answer(method: "GET", target: "/")
    authentication.accepted(["Proxy-Authentication-Info": "\(information)"], after: answer)
    let value = Self.value(&authentication)
    #expect(value?.contains("nonce=\"n2\"") == true && value?.contains("nc=00000001") == true)
  }

  @Test func `late next nonce does not restart the count`() throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    let answers = (0..<3).map { _ in authentication.answer(method: "GET", target: "/") }
    authentication.accepted(["Proxy-Authentication-Info": "nextnonce=n2"], after: answers[0])
    #expect(Self.value(&authentication)?.contains("nc=00000001") == true)
    for (answer, nonce) in [(answers[1], "n1"), (answers[2], "n3")] {
      authentication.accepted(["Proxy-Authentication-Info": "nextnonce=\(nonce)"], after: answer)
    }
    let value = Self.value(&authentication)
    #expect(value?.contains("nonce=\"n2\"") == true && value?.contains("nc=00000002") == true)
  }

  @Test(arguments: ["", "nextnonce", "nextnonce=\"\"", "rspauth=\"nextnonce=n2\"", "nextnonce=\"n1\""])
  func `other information keeps the nonce`(information: String) throws {
    var authentication = try Self.authentication()
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    let answer = authentication.answer(method: "GET", target: "/")
    authentication.accepted(["Proxy-Authentication-Info": "\(information)"], after: answer)
    let value = Self.value(&authentication)
    #expect(value?.contains("nonce=\"n1\"") == true && value?.contains("nc=00000002") == true)
  }

  @Test func `session hash keeps the first nonce`() throws {
    var authentication = try Self.authentication()
    let challenge = "Digest realm=\"door\", qop=auth, algorithm=MD5-sess, nonce=\"first\""
    #expect(Self.isAnswered(&authentication, [challenge]))
    let answer = authentication.answer(method: "GET", target: "/")
    authentication.accepted(["Proxy-Authentication-Info": "nextnonce=second"], after: answer)
    let value = try #require(Self.value(&authentication))
    let response = try #require(AuthenticationChallenge.all(in: [value]).first?["response"])
    // The first nonce is part of the secret, which is hashed again.
    let first = Data("first".utf8).map { String($0, radix: 16) }.joined()
    let twice = Data(first.utf8).map { String($0, radix: 16) }.joined()
    let second = Data(":second:00000001:".utf8).map { String($0, radix: 16) }.joined()
    #expect(response.contains(twice) && response.contains(second))
  }

  @Test func `line ends are never sent`() throws {
    var authentication = try Self.authentication("ada\r\nX-Evil: 1")
    #expect(Self.isAnswered(&authentication, [Self.digest()]))
    #expect(Self.value(&authentication) == nil)
  }

  @Test func `dump shows no password`() throws {
    var text = ""
    dump(try #require(ProxyCredentials("ada", "opensesame")), to: &text)
    #expect(!text.contains("opensesame") && !text.contains("ada"))
  }
}
