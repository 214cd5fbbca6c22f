import ErrandSupport

/// A challenge of Digest authentication and the answers to it. All functions are pure.
package struct DigestSession: Sendable, Hashable {
  private var challenge: DigestChallenge
  /// The nonce of the client. It is the same for all answers to one challenge, as algorithms that end in `-sess`
  /// require (RFC 7616 section 3.4.2).
  private let clientNonce: String
  /// The number of answers with the current nonce of the server.
  private var count: UInt32 = 0
  /// Whether the server has accepted an answer, so that the user and the password are right.
  package private(set) var isProven = false
  /// The challenge of the newest answer that the server has accepted, in this session or an earlier one.
  private var acceptedChallenge: DigestChallenge?

  /// Makes a session without answers. `earlier` is the previous session with the same server.
  package init(_ challenge: DigestChallenge, clientNonce: String, after earlier: DigestSession? = nil) {
    self.challenge = challenge
    self.clientNonce = clientNonce
    acceptedChallenge = earlier?.acceptedChallenge
  }

  /// Random text of the client.
  package static func makeNonce() -> String {
    String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
  }

  /// The name of the hash in lower case, such as `sha-256`.
  package var hashName: String { challenge.hashName }

  /// Whether both are copies of the session for one challenge.
  package func isSame(as other: DigestSession) -> Bool { clientNonce.hasSameBytes(as: other.clientNonce) }

  /// Whether the answers of the session have the realm and the nonce of a challenge.
  package func answers(_ other: DigestChallenge) -> Bool {
    challenge.realm.hasSameBytes(as: other.realm) && challenge.nonce.hasSameBytes(as: other.nonce)
  }

  /// Counts one more answer. Returns a copy of the session for this answer.
  package mutating func next() -> DigestSession {
    count &+= 1
    return self
  }

  /// The value of `Authorization` or `Proxy-Authorization` for a request. `target` is the request target.
  /// - Throws: The errors of `hash`, which computes the hash that ``hashName`` names.
  package func answer(
    _ user: String, _ password: String, method: String, target: String, _ hash: DigestChallenge.Hash
  ) rethrows -> String {
    let use = DigestChallenge.Use(method: method, target: target, clientNonce: clientNonce, count: count)
    return try challenge.answer(user, password, use, hash)
  }

  /// Records that the server has accepted an answer that an earlier copy of this session made. `information` is the
  /// value of `Authentication-Info` or `Proxy-Authentication-Info`, which may contain the nonce for the next answer
  /// (RFC 7616 section 3.5).
  ///
  /// The next nonce is ignored if the answer used an older nonce than the present one. Otherwise a late response would
  /// bring back a nonce whose counts were used already.
  package mutating func accepted(_ used: DigestSession, information: String?) {
    guard isSame(as: used) else { return }
    isProven = true
    acceptedChallenge = challenge
    guard let information, !information.isEmpty, used.challenge.nonce.hasSameBytes(as: challenge.nonce),
      let nonce = AuthenticationChallenge.all(in: ["Digest \(information)"]).first?["nextnonce"],
      !nonce.isEmpty, !nonce.hasSameBytes(as: challenge.nonce)
    else { return }
    (challenge.nonce, count) = (nonce, 0)
  }

  /// Whether a challenge asks for less protection than the answers that the server has accepted, in this session or an
  /// earlier one.
  package func isWeakened(by new: DigestChallenge) -> Bool {
    acceptedChallenge.map { new.isWeaker(than: $0) } ?? false
  }

  /// Whether a challenge that follows an answer of this session can be answered. If not, the server has refused the
  /// user or the password. A server that has accepted answers before and sends another nonce has forgotten the old one,
  /// for example after a restart. But it does not ask for less protection later: somebody else may have sent such a
  /// challenge, in order to guess the password by the answer.
  package func isFollowed(by new: DigestChallenge) -> Bool {
    if isWeakened(by: new) { return false }
    return new.isStale || !new.realm.hasSameBytes(as: challenge.realm)
      || isProven && !new.nonce.hasSameBytes(as: challenge.nonce)
  }
}
