import Foundation

@testable import ErrandURLSession

/// A challenge with a certificate that openssl made.
struct FakeChallenge: SessionChallenge {
  /// A certificate authority, in DER.
  static let authority = data(
    "MIIBijCCAS+gAwIBAgIUKq+L0C73/jAonJUn28gU1D4wWpswCgYIKoZIzj0EAwIwGTEXMBUGA1UEAwwOVGVzdCBhdXRob3JpdHkw"
      + "IBcNMjYxMTIyMTcyMjI3WhgPMjEyNjEwMjkxNzIyMjdaMBkxFzAVBgNVBAMMDlRlc3QgYXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYI"
      + "KoZIzj0DAQcDQgAEYyqkbi6YVwnSRHQqo+LGGT1NeBib4QSLcfZxnwMoykCPJLbfuK3Y3gorjPDDMb4DM5eBbQU93wmN6HJ4/j1t"
      + "BKNTMFEwHQYDVR0OBBYEFJe7WLXlo9Z2XP0KJgiUY6TRpnMGMB8GA1UdIwQYMBaAFJe7WLXlo9Z2XP0KJgiUY6TRpnMGMA8GA1Ud"
      + "EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAKBKP/ybccHUXdUeVdb768PZa90YqY04UgkJOnxc985gAiEAoPzbQIRjuxKi"
      + "/12ucpWcNJlrMB4kZofs16Y/78UtuHg=")
  /// A certificate for `h.example`, issued by the authority, in DER.
  static let leaf = data(
    "MIIBiTCCAS+gAwIBAgIUK6MovErTgZjY/m6+L9gcRQbHMYUwCgYIKoZIzj0EAwIwGTEXMBUGA1UEAwwOVGVzdCBhdXRob3JpdHkw"
      + "IBcNMjYxMTIyMTcyMjI3WhgPMjEyNjEwMjkxNzIyMjdaMBQxEjAQBgNVBAMMCWguZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49"
      + "AwEHA0IABDdUS0xzF/rm9BGikF+EcREqMkZHJFOxzpH7mIkNEOeE/I6Qn/+rODSsujaGVWqE5KGTK7yqEgB4fWunBpqiPZmjWDBW"
      + "MBQGA1UdEQQNMAuCCWguZXhhbXBsZTAdBgNVHQ4EFgQUknRVa+VEyUgt8HP7XXzCGQucfVYwHwYDVR0jBBgwFoAUl7tYteWj1nZc"
      + "/QomCJRjpNGmcwYwCgYIKoZIzj0EAwIDSAAwRQIhAP5dhxYe/6OG0qU3YWRZQATvrGO+AIaTi6g6NP4SZ61AAiA6GbOAh27fzOMD"
      + "xFDNV/lCW91rBTdI57rUOswMQeYpVQ==")
  /// The public key of that certificate, as openssl exports it.
  static let publicKey = data(
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEN1RLTHMX+ub0EaKQX4RxESoyRkckU7HOkfuYiQ0Q54T8jpCf/6s4NKy6NoZVaoTk"
      + "oZMrvKoSAHh9a6cGmqI9mQ==")
  /// The pin of that key, as openssl computed it.
  static let pin = "UOOggrV/3yjj+E2ljsBMrgSvGmF3bdIFpjh0vecknyI="
  /// A pin that matches no key.
  static let sparePin = Data(repeating: 8, count: 32).base64EncodedString()

  static func pem(_ certificates: Data...) -> Data {
    let blocks = certificates.map {
      "-----BEGIN CERTIFICATE-----\n\($0.base64EncodedString(options: .lineLength64Characters))\n"
        + "-----END CERTIFICATE-----\n"
    }
    return Data(blocks.joined().utf8)
  }

  var kind = SessionChallengeKind.serverTrust
  var host = "h.example"
  var certificate: Data? = leaf
  var verdict = SessionVerdict.trusted
  /// The verdict if own authorities are set.
  var ownVerdict: SessionVerdict?

  func sha256(of data: Data) -> Data { data == Self.publicKey ? Self.data(Self.pin) : Data(repeating: 0, count: 32) }

  func judge(anchors: [Data]?) -> SessionVerdict {
    guard let anchors, let ownVerdict else { return verdict }
    return anchors == [Self.authority] ? ownVerdict : verdict
  }

  private static func data(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }
}
