import ErrandSupport
import Foundation

/// The credential of a request: a user name with a password, or a token. Two credentials are equal if their texts have
/// the same bytes.
public enum Credential: Sendable, Hashable {
  /// A user name and a password in UTF-8, sent in Base64 (RFC 7617).
  case basic(user: String, password: String)
  /// A token, sent with the scheme Bearer (RFC 6750). The text is the token alone, without the word "Bearer".
  case bearer(String)

  /// Throws an error if a server would read the user name, the password or the token differently than intended (RFC
  /// 7617 section 2, RFC 6750 section 2.1).
  func check() throws(APIError) {
    switch self {
    case .basic(let user, let password): try Self.check(user, password)
    case .bearer(let token): try Self.check(token)
    }
  }

  private static func check(_ user: String, _ password: String) throws(APIError) {
    if user.utf8.contains(UInt8(ascii: ":")) {
      throw .build(
        .invalidHeader,
        "The user name of the basic credential contains a colon, after which a server expects the password;"
          + " use a user name without a colon.")
    }
    if (user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw .build(
        .invalidHeader, "The basic credential contains a control character, such as a line break; remove it.")
    }
  }

  private static func check(_ token: String) throws(APIError) {
    if token.isEmpty {
      throw .build(
        .invalidHeader, "The token of the bearer credential is empty; use no credential if there is no token.")
    }
    if ASCII.equalFolded(token.utf8.prefix(7), "bearer ".utf8) {
      throw .build(
        .invalidHeader,
        "The token of the bearer credential begins with the word \"Bearer\", which the client adds itself; remove the"
          + " word.")
    }
  }

  var fieldValue: String {
    switch self {
    case .basic(let user, let password): "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    case .bearer(let token): "Bearer \(token)"
    }
  }
}

extension Credential: ComparedByBytes {
  /// The texts of the credential. Their number distinguishes the kinds.
  package var identity: some Hashable {
    switch self {
    case .basic(let user, let password): [ByteText(user), ByteText(password)]
    case .bearer(let token): [ByteText(token)]
    }
  }
}

extension Credential: Masked {
  /// The kind of the credential; name, password and token are masked.
  public var description: String {
    switch self {
    case .basic: "basic \(Redaction.mask)"
    case .bearer: "bearer \(Redaction.mask)"
    }
  }
}

/// Provides the credential of the account that is logged in.
///
/// For every call, the client reads ``account`` twice: once when the request is complete, before the cache lookup, and
/// once after ``credential(for:)`` has returned. The client calls ``credential(for:)`` for each attempt and each hop of
/// a redirect, before the call waits for its turn in the queue (``AdmissionLimits``); this function may wait.
public protocol CredentialProvider: Sendable {
  /// The name of the account that is logged in; nil if no account is logged in. The name must be unique to the account
  /// and is compared byte by byte. The property is read on any thread and must not block.
  var account: String? { get }
  /// Returns true if the credential may be sent to the server with the given origin. The default implementation allows
  /// only the origin of the base URL.
  func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool
  /// Returns the credential for an account; nil to send no credential. The client has read the account from
  /// ``account`` before. This function runs in a task that is cancelled when the call is cancelled.
  ///
  /// Return the credential of the given account, even if another account has logged in since. If another account has
  /// logged in, the response is neither stored nor shared, because it may belong to that account. If this function
  /// itself sends calls, on any client, these calls carry no credential of this provider, as if their
  /// ``APIRequest/credential`` were ``RequestCredential/none``.
  ///
  /// If this function throws, the call fails in stage ``APIError/Stage/authorize`` and is not sent; the thrown error is
  /// the ``APIError/cause``. After an ``APIError`` that does not concern the credential, such as a failed network, the
  /// code is ``APIError/Code/refreshUnavailable``, otherwise ``APIError/Code/noCredential``. So throw such an error
  /// unchanged.
  func credential(for account: String?) async throws -> Credential?
}

extension CredentialProvider {
  /// By default, the credential may be sent only to the origin of the base URL.
  public func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool { origin == base }
}

/// A credential provider with one credential that does not change.
public struct FixedCredential: CredentialProvider {
  /// The name of the account to which the credential belongs; nil if it belongs to no account.
  public let account: String?
  let credential: Credential

  /// Makes a provider of the given credential.
  public init(_ credential: Credential, account: String? = nil) {
    self.credential = credential
    self.account = account
  }

  /// Returns the fixed credential for every account.
  public func credential(for account: String?) async throws -> Credential? { credential }
}

/// A credential provider whose credentials expire and can be refreshed.
///
/// If a server responds with 401, or otherwise rejects the credential (``isRejection(_:)``), the client asks the
/// provider for another credential and sends the call again. One call of ``refresh(_:for:)`` serves all calls that wait
/// for a new credential. A call that was sent with an older credential than the current one is sent again without a
/// refresh. A call causes at most one refresh. If the server responds with 401 again, this second 401 is the response
/// of the call. Only a download may refresh again, each time that it has received bytes since the last refresh. Clients
/// with the same provider object share a refresh. A provider that is a struct or an enum has no identity, so each
/// client refreshes its credential separately.
///
/// ```swift
/// func refresh(_ old: Credential, for account: String?) async throws -> Credential {
///   let pair = try await client.send(RenewToken(refreshToken: store.refreshToken))   // its credential is `.none`
///   store.keep(pair)
///   return .bearer(pair.token)
/// }
/// ```
public protocol RefreshingProvider: CredentialProvider {
  /// Returns true if a credential has expired or is about to expire. Such a credential is refreshed before it is sent.
  /// The default implementation returns false. The function is called on any thread and must not block.
  func isExpiring(_ credential: Credential) -> Bool

  /// Returns true if a response says that the credential of its request has expired or was rejected. The credential is
  /// then refreshed, and the request is sent once more. The default implementation returns true for the status 401.
  ///
  /// Implement the function for a server that reports an expired credential in another way, for example by a business
  /// code in a response with status 200, and return true for the status 401, too. It is called for each response to a
  /// request with the credential of this provider, on any thread, and must not block.
  ///
  /// The response has its whole body if the call keeps the body in memory. In a download, a stream, an event stream or
  /// another call with a ``CallOptions/bodySink``, the function is called before the file or the sink receives a byte:
  ///
  /// - If the call accepts the status and the content type (``ResponseValidation``), the response has an empty body, so
  ///   the function decides by the header fields. If it returns false, the body is delivered. If the call accepts the
  ///   status 401, a stream or a sink receives such a response, and the function is not called.
  /// - If the call does not accept the status or the content type, the response has at most the first mebibyte of the
  ///   body.
  ///
  /// If the function returns true and the credential is not refreshed, or if the second response is a rejection, too,
  /// such a call fails with the code ``APIError/Code/status``, and the file or the sink receives nothing.
  func isRejection(_ response: HTTPResponse) -> Bool

  /// Gets a credential that replaces `old`, which was rejected or is about to expire, and stores the new credential.
  /// After this function has returned, ``CredentialProvider/credential(for:)`` must return the new credential.
  ///
  /// This function runs in a separate task of the client. The cancellation of a call does not cancel this task, because
  /// a token that the server has already exchanged must not be lost. The task is cancelled only when the session of the
  /// account ends. So the refresh needs its own deadline, such as the deadline of a call that the refresh sends.
  ///
  /// If the refresh throws, the thrown error is the cause of the errors of all waiting calls. Calls with the same
  /// credential in the next ten seconds fail with this error, too. After an ``APIError`` that does not concern the
  /// credential, such as a failed network, calls fail only in the next second. So throw such an error unchanged.
  ///
  /// If this function itself sends calls, on any client, these calls cause no refresh. They carry no credential of this
  /// provider, as if their ``APIRequest/credential`` were ``RequestCredential/none``. This also applies to calls of a
  /// `Task` that the function starts and awaits.
  func refresh(_ old: Credential, for account: String?) async throws -> Credential
}

extension RefreshingProvider {
  /// By default, no credential is about to expire.
  public func isExpiring(_ credential: Credential) -> Bool { false }

  /// By default, only the status 401 rejects a credential.
  public func isRejection(_ response: HTTPResponse) -> Bool { response.status == 401 }
}
