import ErrandSupport
import Foundation

/// What a request shows to be let in. Two are equal if their texts have the same bytes.
public enum Credential: Sendable, Hashable {
  /// A name and a password, sent in Base64 (RFC 7617, in UTF-8).
  case basic(user: String, password: String)
  /// A token (RFC 6750).
  case bearer(String)

  /// Refuses a name and a password that a server would read otherwise (RFC 7617 section 2).
  func check() throws(APIError) {
    guard case .basic(let user, let password) = self else { return }
    if user.utf8.contains(UInt8(ascii: ":")) {
      throw .build(
        .invalidHeader,
        "The name of the basic credential has a colon in it, and a server would take what follows for the password;"
          + " use a name without one.")
    }
    if (user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw .build(
        .invalidHeader, "The basic credential has a control character in it, such as a line break; remove it.")
    }
  }

  /// The value of `Authorization`.
  var fieldValue: String {
    switch self {
    case .basic(let user, let password): "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    case .bearer(let token): "Bearer \(token)"
    }
  }
}

extension Credential {
  /// Compares the kinds and the bytes of the texts.
  public static func == (left: Credential, right: Credential) -> Bool {
    switch (left, right) {
    case (.basic(let user, let password), .basic(let otherUser, let otherPassword)):
      user.hasSameBytes(as: otherUser) && password.hasSameBytes(as: otherPassword)
    case (.bearer(let token), .bearer(let other)): token.hasSameBytes(as: other)
    case (.basic, .bearer), (.bearer, .basic): false
    }
  }

  /// Hashes the bytes of the texts.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .basic(let user, let password):
      hasher.combine(ByteText(user))
      hasher.combine(ByteText(password))
    case .bearer(let token): hasher.combine(ByteText(token))
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
