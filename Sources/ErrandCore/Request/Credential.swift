import ErrandSupport
import Foundation

/// The credential of a request. Two credentials are equal if their texts have the same bytes.
public enum Credential: Sendable, Hashable {
  /// A user name and a password in UTF-8, sent in Base64 (RFC 7617).
  case basic(user: String, password: String)
  /// A token (RFC 6750, "Bearer").
  case bearer(String)

  /// Throws if a server would read the name or the password differently than intended (RFC 7617 section 2).
  func check() throws(APIError) {
    guard case .basic(let user, let password) = self else { return }
    if user.utf8.contains(UInt8(ascii: ":")) {
      throw .build(
        .invalidHeader,
        "The user name of the basic credential contains a colon, so a server would read the rest as the password;"
          + " use a name without a colon.")
    }
    if (user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw .build(
        .invalidHeader, "The basic credential contains a control character, such as a line break; remove it.")
    }
  }

  /// The value of the field `Authorization`.
  var fieldValue: String {
    switch self {
    case .basic(let user, let password): "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    case .bearer(let token): "Bearer \(token)"
    }
  }
}

extension Credential {
  /// Compares the kinds of the credentials and the bytes of their texts.
  public static func == (left: Credential, right: Credential) -> Bool {
    switch (left, right) {
    case (.basic(let user, let password), .basic(let otherUser, let otherPassword)):
      user.hasSameBytes(as: otherUser) && password.hasSameBytes(as: otherPassword)
    case (.bearer(let token), .bearer(let other)): token.hasSameBytes(as: other)
    case (.basic, .bearer), (.bearer, .basic): false
    }
  }

  /// Hashes the bytes of the credential's texts.
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
  /// The kind of the credential; name, password and token are masked.
  public var description: String {
    switch self {
    case .basic: "basic \(Redaction.mask)"
    case .bearer: "bearer \(Redaction.mask)"
    }
  }
  /// The kind of the credential; name, password and token are masked.
  public var debugDescription: String { description }
  /// The children that `dump` shows: only the kind of the credential.
  public var customMirror: Mirror { Mirror(self, children: ["kind": description], displayStyle: .enum) }
}

/// Provides the credential of the account that is logged in.
///
/// For every call, the client reads ``account`` twice: before the cache lookup, when the request is final, and after
/// ``credential(for:)``. It calls ``credential(for:)`` when the request is about to be sent; this function may wait.
public protocol CredentialProvider: Sendable {
  /// The name of the account that is logged in; nil if none is logged in. The name must be unique to the account and is
  /// compared byte by byte. The property is read on any thread and must not block.
  var account: String? { get }
  /// Returns true if the credential may be sent to a server. The default implementation allows only the origin of the
  /// base URL.
  func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool
  /// Returns the credential for an account that ``account`` returned; nil to send none. Runs in a task that is
  /// cancelled when the call is cancelled.
  ///
  /// Return the credential of the given account, even if another account has logged in since. In that case the response
  /// is neither stored nor shared, because it may belong to the other account. If this function sends calls itself, on
  /// any client, they carry no credential of this provider, as if their ``APIRequest/credential`` were
  /// ``RequestCredential/none``.
  func credential(for account: String?) async throws -> Credential?
}

extension CredentialProvider {
  /// Allows only the origin of the base URL.
  public func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool { origin == base }
}
