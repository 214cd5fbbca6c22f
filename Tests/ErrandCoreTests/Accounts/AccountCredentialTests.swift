import ErrandCore
import Foundation
import Testing

/// How a credential of an account is stored and described.
struct AccountCredentialTests {
  private static let all = [
    AccountCredential(.bearer("MARKER")),
    AccountCredential(.basic(user: "MARKER", password: "MARKER")),
    AccountCredential(.bearer("MARKER"), refreshToken: "MARKER", expires: Date(timeIntervalSince1970: 1_700_000_000)),
  ]

  @Test(arguments: all) func `stored credential decodes to same value`(credential: AccountCredential) throws {
    let kept = KeptAccounts(current: "ada", credentials: ["ada": credential])
    let bytes = try JSONEncoder().encode(kept)
    #expect(try JSONDecoder().decode(KeptAccounts.self, from: bytes) == kept)
  }

  @Test(arguments: all) func `descriptions contain no secret`(credential: AccountCredential) {
    var shown = ""
    dump(KeptAccounts(current: "ada", credentials: ["ada": credential]), to: &shown)
    shown += "\(credential)" + String(reflecting: credential) + "\(KeptAccounts(credentials: ["ada": credential]))"
    #expect(!shown.contains("MARKER"))
  }

  /// The arguments are numbers, because the description of a date that is not finite ends the process.
  @Test(arguments: [
    (1_700_000_000.0, "2023-11-14T22:13:20Z"), (64_092_211_200.0, "4001-01-01T00:00:00Z"),
    (Double.infinity, "a date outside the years 0 to 9999"), (Double.nan, "a date outside the years 0 to 9999"),
  ])
  func `description contains any expiry`(seconds: Double, text: String) {
    let credential = AccountCredential(.bearer("MARKER"), expires: Date(timeIntervalSince1970: seconds))
    #expect("\(credential)" == "bearer •••, until \(text)")
  }

  @Test func `credential without token or user is refused`() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(AccountCredential.self, from: Data(#"{"password":"x"}"#.utf8))
    }
  }
}
