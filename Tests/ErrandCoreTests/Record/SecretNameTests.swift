import Testing

@testable import ErrandCore

struct SecretNameTests {
  @Test(arguments: [
    "sig", "code", "X-Amz-Signature", "X-Amz-Credential", "sid", "card_pin", "SAMLResponse", "code_verifier",
    "c%6Fde", "access%5Ftoken", "X-Goog-Signature", "assertion", "client_assertion", "device_code", "user_pass", "jwt",
    "otp", "pin", "pwd",
  ])
  func `names of secrets in queries are recognized`(name: String) {
    #expect(SecretName.isSecret(encoded: Substring(name)))
  }

  @Test(arguments: ["page", "zipcode", "q", "design", "state", "X-Amz-Date", "%zz"])
  func `other names in queries are not secret`(name: String) {
    #expect(!SecretName.isSecret(encoded: Substring(name)))
  }

  @Test(arguments: ["X-Api-Key", "X-Auth-Token", "x-amz-security-token", "Authorization", "Set-Cookie", "X-Session-Id"])
  func `names of secret fields are recognized`(name: String) {
    #expect(SecretName.isSecret(HTTPFieldName(name)))
  }

  @Test(arguments: [
    ":authority", ":path", "WWW-Authenticate", "access-control-allow-credentials", "Accept", "ETag", "Keep-Alive",
    "Access-Control-Allow-Headers",
  ])
  func `public fields are not secret`(name: String) {
    #expect(!SecretName.isSecret(HTTPFieldName(name)))
  }
}
