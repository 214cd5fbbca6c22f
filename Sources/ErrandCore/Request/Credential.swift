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
