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
/// The first request contains no credentials, so the password is never sent to a proxy that offers Digest (RFC 7616). A
/// Digest that cannot be answered, because of its algorithm or because it demands `auth-int`, counts as none. Each row
/// of the table is the scheme of the requests, and each column a response. The cells contain the next scheme; "again"
/// means that the request is sent again.
///
/// | scheme | 407 with Digest | 407 with only Basic | other 407 | another status |
/// |---|---|---|---|---|
/// | none | Digest, again | Basic, again | none | – |
/// | Basic | Digest, again | none: the password is wrong | none | – |
/// | Digest | Digest, again, or none if the password is wrong | none | none | Digest |
/// | Digest that was accepted | Digest, again only with another nonce and if it is not weaker | Digest | Digest | Digest |
/// | none, after Digest | Digest, again, if it is not weaker | none | none | – |
///
/// A proxy that has asked for Digest is never given the password by Basic, and a proxy that has accepted an answer is
/// never given a weaker one: somebody else may have sent that response.
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
  /// The newest session, even if its answers were refused; nil if the proxy has never asked for Digest.
  private var lastSession: DigestSession?

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
    guard let digest else {
      return isAnswerable(after: answer, offersBasic: challenges.contains { $0.scheme == "basic" })
    }
    if case .digest(let used) = answer.scheme, isRefused(used, by: digest) {
      giveUp(used)
      return false
    }
    if hasSession(for: digest, after: answer) { return true }
    if lastSession?.isWeakened(by: digest) == true { return false }
    set(DigestSession(digest, clientNonce: makeNonce(), after: lastSession))
    return true
  }

  /// Takes a response with status 407 without a challenge of the scheme Digest that can be answered.
  private mutating func isAnswerable(after answer: Answer, offersBasic: Bool) -> Bool {
    if case .digest(let used) = answer.scheme {
      giveUp(used)
      return false
    }
    // Another request has received a challenge of the scheme Digest in the meantime.
    if case .digest = scheme { return true }
    scheme = .none
    guard case .none = answer.scheme, offersBasic, lastSession == nil else { return false }
    scheme = .basic
    return true
  }

  private mutating func set(_ session: DigestSession) {
    scheme = .digest(session)
    lastSession = session
  }

  /// Ends the session of an answer that was refused, unless the proxy has accepted an answer of the session before.
  /// Somebody else may have sent the refusal.
  private mutating func giveUp(_ used: DigestSession) {
    guard case .digest(let session) = scheme, session.isSame(as: used), !session.isProven else { return }
    scheme = .none
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
    set(session)
  }
}

/// The requests and responses of one exchange with its proxy, as far as they concern authentication. All exchanges of a
/// transport share the ``ProxyAuthentication`` of the proxy.
package struct ProxyDialogue: Sendable {
  /// The maximum number of times that a request is sent again because its proxy asks for another answer: without an
  /// answer first, and once more if the proxy has forgotten its nonce.
  private static let mostChallenges = 2

  /// The answer in the last request. Nil if there are no credentials for the proxy.
  private var answer: ProxyAuthentication.Answer?
  /// The number of times that the proxy asked for another answer.
  private var challenges = 0
  /// Whether the body has waited for status 100 because the proxy may ask for another answer.
  private var hasAwaited = false

  package init() {}

  /// Returns the value of `Proxy-Authorization` for the next request. Returns nil if the request contains no
  /// credentials. `target` is the request target: the whole URL, or `host:port` for CONNECT.
  package mutating func authorization(
    by authentication: inout ProxyAuthentication, method: String, target: @autoclosure () -> String
  ) -> String? {
    let answer = authentication.answer(method: method, target: target())
    self.answer = answer
    return answer.value
  }

  /// Takes the response of the proxy to the last request. Returns true if the proxy has asked for another answer and
  /// the request may be sent again.
  package mutating func takeResponse(_ head: ResponseHead, to authentication: inout ProxyAuthentication?) -> Bool {
    guard let answer else { return false }
    guard head.status == 407 else {
      authentication?.accepted(head.fields, after: answer)
      return false
    }
    guard authentication?.isAnswerable(head.fields, after: answer) == true, challenges < Self.mostChallenges else {
      return false
    }
    challenges += 1
    return true
  }

  /// Lets a body that can be read only once wait for status 100 if the proxy may ask for another answer. Otherwise the
  /// body would be lost if the proxy responds with status 407. Returns true if the body must wait, at most once.
  package mutating func beginWait(
    of body: HTTPBody?, _ upload: BodyUpload?, _ authentication: ProxyAuthentication?
  ) -> Bool {
    guard authentication?.mayAskAgain == true, upload?.hasEnded == false, body?.isReplayable == false, !hasAwaited
    else { return false }
    hasAwaited = true
    return true
  }
}
