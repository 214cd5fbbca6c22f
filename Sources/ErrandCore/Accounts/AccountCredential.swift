import ErrandSupport
public import Foundation

/// What is kept for an account: the credential that is shown, what gets the next one, and when it runs out.
public struct AccountCredential: Sendable, Hashable {
  /// What servers are shown.
  public var credential: Credential
  /// What another credential is had for; nil where there is no such thing.
  public var refreshToken: String?
  /// When the credential runs out, on the wall clock; nil where nobody knows.
  public var expires: Date?

  /// Makes one.
  public init(_ credential: Credential, refreshToken: String? = nil, expires: Date? = nil) {
    self.credential = credential
    self.refreshToken = refreshToken
    self.expires = expires
  }
}

extension AccountCredential {
  /// Whether both are the same in all parts; texts are compared byte by byte.
  public static func == (left: AccountCredential, right: AccountCredential) -> Bool {
    left.credential == right.credential && left.refreshToken.hasSameBytes(as: right.refreshToken)
      && left.expires == right.expires
  }

  /// Hashes all parts.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(credential)
    hasher.combine(refreshToken.map { ByteText($0) })
    hasher.combine(expires)
  }
}

extension AccountCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The kind and the end alone.
  public var description: String {
    credential.description + (refreshToken == nil ? "" : ", to be refreshed")
      + (expires.map { ", until \($0.ISO8601Format())" } ?? "")
  }
  /// The kind and the end alone.
  public var debugDescription: String { description }
  /// What a dump shows: the kind and the end alone.
  public var customMirror: Mirror { Mirror(self, children: ["credential": description], displayStyle: .struct) }
}

extension AccountCredential: Codable {
  private enum Key: String, CodingKey { case token, user, password, refreshToken, expires }

  /// Reads one that ``encode(to:)`` wrote: it holds secrets, so keep it where nobody else can read.
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

  /// Writes it, secrets and all.
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
