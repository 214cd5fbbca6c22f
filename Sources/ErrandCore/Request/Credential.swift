import Foundation

/// What a request shows to be let in.
public enum Credential: Sendable, Hashable {
  /// A name and a password, sent in Base64 (RFC 7617, in UTF-8).
  case basic(user: String, password: String)
  /// A token (RFC 6750).
  case bearer(String)

  /// The value of `Authorization`.
  var fieldValue: String {
    switch self {
    case .basic(let user, let password): "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    case .bearer(let token): "Bearer \(token)"
    }
  }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The kind alone.
  public var description: String {
    switch self {
    case .basic: "basic \(Redaction.mask)"
    case .bearer: "bearer \(Redaction.mask)"
    }
  }
  /// The kind alone.
  public var debugDescription: String { description }
  /// What a dump shows: the kind alone.
  public var customMirror: Mirror { Mirror(self, children: ["kind": description], displayStyle: .enum) }
}

/// Where a request's credential comes from.
public enum RequestCredential: Sendable, Hashable {
  /// From the client's provider, for the origins it names.
  case inherited
  /// From nowhere.
  case none
  /// From the request itself, for the origin it is sent to.
  case own(Credential)

  /// A name and a password of the request's own.
  public static func basic(user: String, password: String) -> RequestCredential {
    .own(.basic(user: user, password: password))
  }

  /// A token of the request's own.
  public static func bearer(_ token: String) -> RequestCredential { .own(.bearer(token)) }
}

/// Gives the credential of whoever is logged in.
///
/// ``account`` is asked at once and at the same moment for every call, before anything is looked up;
/// ``credential(for:)`` is asked when the request is about to be sent, and may wait.
public protocol CredentialProvider: Sendable {
  /// Who is logged in, as a name that tells accounts apart; nil for nobody. Any thread; must not block.
  var account: String? { get }
  /// Whether the credential may be shown to a server. Where this is not implemented: to the base URL's origin alone.
  func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool
  /// The credential for an account that ``account`` gave; nil to send none. Runs in a task that a cancel reaches.
  func credential(for account: String?) async throws -> Credential?
}

extension CredentialProvider {
  /// To the base URL's origin alone.
  public func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool { origin == base }
}

/// A provider with one credential that does not change.
public struct FixedCredential: CredentialProvider {
  /// The account's name.
  public let account: String?
  private let credential: Credential

  /// Makes a provider.
  public init(_ credential: Credential, account: String? = nil) {
    self.credential = credential
    self.account = account
  }

  /// The one credential.
  public func credential(for account: String?) async throws -> Credential? { credential }
}
