import ErrandJSON
import ErrandSupport
public import Foundation

/// The stored data of an account: its credential, the token that refreshes the credential, and the time of expiry.
public struct AccountCredential: Sendable, Hashable {
  /// The credential that is sent to servers.
  public var credential: Credential
  /// The token with which a new credential is requested when the credential expires; nil if there is no such token.
  public var refreshToken: String?
  /// The time at which the credential expires, by the wall clock; nil if the time is unknown.
  public var expires: Date?

  /// Makes the stored data of an account from its credential.
  public init(_ credential: Credential, refreshToken: String? = nil, expires: Date? = nil) {
    self.credential = credential
    self.refreshToken = refreshToken
    self.expires = expires
  }
}

extension AccountCredential: ComparedByBytes {
  package var identity: some Hashable { Parts(credential, refreshToken.map { ByteText($0) }, expires) }
}

extension AccountCredential: Masked {
  /// The kind of the credential and its expiry, without secrets.
  public var description: String {
    credential.description + (refreshToken == nil ? "" : ", refreshable")
      + (expires.map { ", until \(Self.text($0))" } ?? "")
  }

  /// The text of an expiry. Foundation ends the process when it writes a date that is not finite, by which an app may
  /// say that a credential never expires.
  private static func text(_ expires: Date) -> String {
    ISO8601Text.milliseconds(of: expires, always: false) ?? "a date outside the years 0 to 9999"
  }
}

extension AccountCredential: Codable {
  private enum Key: String, CodingKey { case token, user, password, refreshToken, expires }

  /// Decodes the data that ``encode(to:)`` wrote. The data contains secrets, so store it where no one else can read it.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    if let token = try values.decodeIfPresent(String.self, forKey: .token) {
      credential = .bearer(token)
    } else {
      credential = .basic(
        user: try values.decode(String.self, forKey: .user),
        password: try values.decode(String.self, forKey: .password))
    }
    refreshToken = try values.decodeIfPresent(String.self, forKey: .refreshToken)
    expires = try values.decodeIfPresent(Date.self, forKey: .expires)
  }

  /// Encodes the credential, the refresh token and the expiry. The result contains the secrets in plain text.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    switch credential {
    case .bearer(let token): try values.encode(token, forKey: .token)
    case .basic(let user, let password):
      try values.encode(user, forKey: .user)
      try values.encode(password, forKey: .password)
    }
    try values.encodeIfPresent(refreshToken, forKey: .refreshToken)
    try values.encodeIfPresent(expires, forKey: .expires)
  }
}
