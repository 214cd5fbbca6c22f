import Errand
import ErrandChecksum
import ErrandCore
import ErrandHTTP
import Foundation
import Testing

/// Challenges and answers of Digest authentication, with the examples of RFC 7616 section 3.9.1 and RFC 2617.
struct DigestChallengeTests {
  /// The two field lines of the example, MD5 as the fallback.
  static let lines = ["SHA-256", "MD5"].map { algorithm in
    "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), "
      + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
      + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
  }
  static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
  private static let use = DigestChallenge.Use(
    method: "GET", target: "/dir/index.html", clientNonce: clientNonce, count: 1)

  private func strongest(_ lines: [String], _ hashes: [String] = ["sha-256", "md5"]) -> DigestChallenge? {
    DigestChallenge.strongest(in: AuthenticationChallenge.all(in: lines), hashes: hashes)
  }

  private func answer(_ line: String, user: String = "Mufasa", password: String = "Circle of Life") throws -> String {
    let challenge = try #require(strongest([line]))
    return try challenge.answer(user, password, Self.use) { data in
      let hash = try (challenge.hashName == "md5" ? DigestAlgorithm.md5 : .sha256).makeHash()
      data.withUnsafeBytes { hash.update($0) }
      return hash.finish()
    }
  }

  @Test(arguments: [
    (0, "SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    (1, "MD5", "8ca523f5e9506fed4657c9700eebdbec"),
  ])
  func `answer is that of the RFC`(line: Int, algorithm: String, response: String) throws {
    #expect(
      try answer(Self.lines[line])
        == "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", uri=\"/dir/index.html\", "
        + "algorithm=\(algorithm), nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", nc=00000001, qop=auth, "
        + "cnonce=\"\(Self.clientNonce)\", response=\"\(response)\", "
        + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"")
  }

  /// A challenge of which no text is UTF-8.
  static let octets =
    Array("Digest realm=\"Caf".utf8) + [0xE9] + Array("\", nonce=\"n".utf8) + [0xE9]
    + Array("\", opaque=\"".utf8) + [0xE9] + Array("\", qop=auth, algorithm=SHA-256".utf8)
  /// The parts of the answer to ``octets`` that contain the texts of the server.
  static let octetParts = [
    Array("realm=\"Caf".utf8) + [0xE9, 0x22], Array(" nonce=\"n".utf8) + [0xE9, 0x22],
    Array("opaque=\"".utf8) + [0xE9, 0x22],
  ]
  static let octetResponse = "response=\"610e391e180a9d7dba721eca8b7cbe493feec5c3a576b8ea8b5a7c0d98073d32\""

  @Test func `octets of the challenge are hashed`() throws {
    let line = Array("WWW-Authenticate:".utf8) + Self.octets + [0x0A]
    let fields = HTTPFields(raw: RawFieldBlock(bytes: line, count: 1))
    let value = try answer(try #require(fields["WWW-Authenticate"]))
    #expect(value.contains(Self.octetResponse))
    let bytes = FieldOctets.bytes(of: value)
    for part in Self.octetParts { #expect(bytes.firstRange(of: part) != nil) }
  }

  @Test func `older challenge has no client nonce`() throws {
    let value = try answer(
      "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"", password: "Circle Of Life")
    #expect(value.hasSuffix("response=\"670fd8c2df070c60b045671b8b24ff02\"") && !value.contains("nc="))
  }

  @Test func `stronger algorithm is preferred`() throws {
    #expect(strongest(Self.lines.reversed())?.hashName == "sha-256")
    #expect(strongest([Self.lines[1]])?.hashName == "md5")
    #expect(strongest([Self.lines[1]], ["sha-256"]) == nil)
  }

  @Test(arguments: [
    "Basic realm=\"a\"", "Digest realm=\"a\"", "Digest nonce=\"a\"", "Digest", "Negotiate YII==", "",
    "Digest realm=\"a\", nonce=\"b\", qop=\"auth-int\"", "Digest realm=\"a\", nonce=\"b\", algorithm=SHA-512-256",
  ])
  func `other challenge is not answered`(line: String) {
    #expect(strongest([line]) == nil)
  }

  @Test func `session algorithm hashes both nonces`() throws {
    let plain = try answer("Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=MD5")
    let session = try answer("Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=MD5-sess")
    #expect(plain.contains("response=\"") && session.contains("algorithm=MD5-sess"))
    #expect(plain.suffix(40) != session.suffix(40))
  }

  @Test func `name is hashed or encoded`() throws {
    let hashed = try answer("Digest realm=\"r\", nonce=\"n\", qop=auth, userhash=true", user: "Jäsøn")
    #expect(hashed.contains("userhash=true") && !hashed.contains("Jä"))
    let encoded = try answer("Digest realm=\"r\", nonce=\"n\", qop=auth, charset=UTF-8", user: "Jäsøn Doe")
    #expect(encoded.hasPrefix("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm="))
    let quoted = try answer("Digest realm=\"a \\\"b\\\\\", nonce=\"n\"", user: "x\"y")
    #expect(quoted.hasPrefix("Digest username=\"x\\\"y\", realm=\"a \\\"b\\\\\", "))
  }

  // MARK: - The field

  @Test func `challenges share a line`() {
    let found = AuthenticationChallenge.all(in: [
      "Negotiate, NTLM abc==, Basic realm=\"a, b=c\" , charset = UTF-8, Digest nonce=x,realm=\"q\\\"\"", "bearer",
    ])
    #expect(found.map(\.scheme) == ["negotiate", "ntlm", "basic", "digest", "bearer"])
    #expect(found[2]["realm"] == "a, b=c" && found[2]["charset"] == "UTF-8")
    #expect(found[3]["nonce"] == "x" && found[3]["realm"] == "q\"" && found[3]["charset"] == nil)
  }

  @Test(arguments: ["", ",,", "=", "\"", "a=", "a=\"", "(x)", "Basic realm=\"open", "Digest ==", "é", "a b c"])
  func `malformed field is read to its end`(line: String) {
    for found in AuthenticationChallenge.all(in: [line]) { #expect(!found.scheme.isEmpty) }
    let long = String(repeating: line + ", ", count: 20_000)
    #expect(AuthenticationChallenge.all(in: [long]).count <= 60_000)
  }
}
