import ErrandSupport
package import Foundation

/// The user and the password for a proxy.
package struct ProxyCredentials: Sendable, Hashable, CustomReflectable {
  private let userText: ByteText
  private let passwordText: ByteText

  /// Returns nil if neither a user nor a password is set.
  package init?(_ user: String?, _ password: String?) {
    if user == nil, password == nil { return nil }
    userText = ByteText(user ?? "")
    passwordText = ByteText(password ?? "")
  }

  package var user: String { userText.text }
  package var password: String { passwordText.text }

  /// The mirror for `dump(_:)`, without the credentials.
  package var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

/// A hash function of Digest authentication.
package struct DigestHash: Sendable {
  /// The name of the hash in lower case, such as `sha-256`.
  package let name: String
  package let function: @Sendable (Data) -> Data

  package init(name: String, function: @escaping @Sendable (Data) -> Data) {
    self.name = name
    self.function = function
  }
}

/// The state of the authentication to one proxy (RFC 9110 section 11.7). Decides the value of `Proxy-Authorization`, and
/// whether a request is sent again after status 407. It performs no I/O.
///
/// The first request contains no credentials, so the password is never sent to a proxy that supports Digest (RFC 7616).
/// Each row of the table is the scheme of the requests, and each column a response. The cells contain the next scheme;
/// "again" means that the request is sent again.
///
/// | scheme | 407 with Digest | 407 with only Basic | other 407 | another status |
/// |---|---|---|---|---|
/// | none | Digest, again | Basic, again | none | – |
/// | Basic | Digest, again | none: the password is wrong | none | – |
/// | Digest | Digest, again, or none if the password is wrong | none | none | Digest |
/// | Digest that was accepted | the same, if it is not weaker | Digest | Digest | Digest |
///
/// A proxy that has asked for Digest is not given the password by Basic: somebody else may have sent that response.
package struct ProxyAuthentication: Sendable {
  fileprivate enum Scheme: Sendable {
    case none
    case basic
    case digest(DigestSession)
  }

  /// The value of `Proxy-Authorization` of one request. Nil if the request contains no credentials.
  package struct Answer: Sendable {
    package let value: String?
    fileprivate let scheme: Scheme
  }

  private let credentials: ProxyCredentials
  private let hashes: [DigestHash]
  private let makeNonce: @Sendable () -> String
  private var scheme = Scheme.none

  /// Makes the state. `hashes` are the hash functions that are available, the preferred one first.
  package init(
    _ credentials: ProxyCredentials, hashes: [DigestHash],
    makeNonce: @escaping @Sendable () -> String = DigestSession.makeNonce
  ) {
    self.credentials = credentials
    self.hashes = hashes
    self.makeNonce = makeNonce
  }

  /// Whether the proxy may ask for another answer although the user and the password are right: its scheme is not known
  /// yet, or it may have forgotten its nonce.
  package var mayAskAgain: Bool {
    if case .basic = scheme { false } else { true }
  }

  /// The answer for the next request. `target` is the request target: the whole URL, or `host:port` for CONNECT.
  package mutating func answer(method: String, target: @autoclosure () -> String) -> Answer {
    switch scheme {
    case .none: return Answer(value: nil, scheme: .none)
    case .basic:
      let pair = Data("\(credentials.user):\(credentials.password)".utf8)
      return Answer(value: "Basic \(pair.base64EncodedString())", scheme: .basic)
    case .digest(var session):
      let used = session.next()
      scheme = .digest(session)
      return Answer(value: value(of: used, method, target()), scheme: .digest(used))
    }
  }

  /// The answer of a session. Nil if the user or the challenge contains a character that no field may contain.
  private func value(of session: DigestSession, _ method: String, _ target: String) -> String? {
    guard let hash = hashes.first(where: { $0.name == session.hashName }) else { return nil }
    let value = session.answer(
      credentials.user, credentials.password, method: method, target: target, hash.function)
    return value.utf8.allSatisfy { $0 > 0x1F && $0 != 0x7F } ? value : nil
  }

  /// Takes the fields of a response with status 407. Returns whether the request may be sent again with another answer.
  /// False means that the proxy has refused the user or the password, or supports no known scheme.
  package mutating func isAnswerable(_ fields: HTTPFields, after answer: Answer) -> Bool {
    let challenges = AuthenticationChallenge.all(in: fields.values(of: "Proxy-Authenticate"))
    let digest = DigestChallenge.strongest(in: challenges, hashes: hashes.map(\.name))
    switch (answer.scheme, digest) {
    case (.digest(let used), let digest?) where isRefused(used, by: digest): scheme = .none
    case (_, let digest?) where hasSession(for: digest, after: answer): return true
    case (.digest, nil) where isProven: return false
    case (_, nil) where isProven: return true
    case (_, let digest?) where isWeakened(by: digest): return false
    case (_, let digest?): scheme = .digest(DigestSession(digest, clientNonce: makeNonce()))
    case (.basic, nil), (.digest, nil): scheme = .none
    case (.none, nil): scheme = challenges.contains { $0.scheme == "basic" } ? .basic : .none
    }
    if case .none = scheme { return false }
    return true
  }

  private func isWeakened(by challenge: DigestChallenge) -> Bool {
    if case .digest(let session) = scheme { session.isWeakened(by: challenge) } else { false }
  }

  private var isProven: Bool {
    if case .digest(let session) = scheme { session.isProven } else { false }
  }

  /// Whether another request has received the same challenge already. Its answers and those of this request are counted
  /// together.
  private func hasSession(for challenge: DigestChallenge, after answer: Answer) -> Bool {
    guard case .digest(let session) = scheme, session.answers(challenge) else { return false }
    if case .digest(let used) = answer.scheme { return !session.isSame(as: used) }
    return true
  }

  /// Whether a challenge means that the user or the password is wrong. False if another request has replaced the session
  /// in the meantime.
  private func isRefused(_ used: DigestSession, by challenge: DigestChallenge) -> Bool {
    guard case .digest(let session) = scheme, session.isSame(as: used) else { return false }
    return !session.isFollowed(by: challenge)
  }

  /// Takes the fields of a response with another status than 407, which shows that the proxy has accepted the answer.
  package mutating func accepted(_ fields: HTTPFields, after answer: Answer) {
    guard case .digest(let used) = answer.scheme, case .digest(var session) = scheme else { return }
    session.accepted(used, information: fields["Proxy-Authentication-Info"])
    scheme = .digest(session)
  }
}
