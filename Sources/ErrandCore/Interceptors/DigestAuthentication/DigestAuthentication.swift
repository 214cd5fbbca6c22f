import ErrandSupport

/// An interceptor that answers the challenges of servers with Digest authentication (RFC 7616). The password is never
/// sent. Place the interceptor in ``ClientConfiguration/exchangeInterceptors``.
///
/// ```swift
/// configuration.exchangeInterceptors.append(DigestAuthentication(user: "ada", password: password))
/// ```
///
/// The first request to an origin gets status 401 and is sent again with the answer; later requests contain an answer
/// at once. A body that can be read only once cannot be sent again, so such a request fails with 401 if it is the first
/// one. Requests to servers that neither the client nor the request's ``RequestFamily`` names, requests after a
/// redirect to another origin, and requests with an `Authorization` field are not changed. Responses to answered
/// requests are not stored.
///
/// The second request of a call has the same cookies as the first and takes no token of a ``HostRate``. So a server
/// that binds its challenge to a cookie of the response with status 401 accepts only the next call.
///
/// The quality of protection `auth` is supported, `auth-int` is not. The product `ErrandChecksum` has the initializer
/// with the algorithms SHA-256 and MD5.
public struct DigestAuthentication: Interceptor {
  /// The last challenge of an origin and the number of answers to it.
  private struct Session: Sendable {
    var challenge: DigestChallenge
    let algorithm: DigestAlgorithm
    /// The nonce of the client. It is the same for all answers to one challenge, as algorithms that end in `-sess`
    /// require (RFC 7616 section 3.4.2).
    let clientNonce: String
    var count: UInt32 = 1
    /// Whether the server has accepted an answer, so that the user and the password are right.
    var isProven = false
  }

  /// The sessions of all origins, which all copies of the interceptor share.
  private final class Sessions: Sendable {
    let all = Locked<[HTTPURL.Origin: Session]>([:])
  }

  private let user: String
  private let password: String
  private let algorithms: [DigestAlgorithm]
  private let makeNonce: @Sendable () -> String
  private let sessions = Sessions()

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - user: The name of the user.
  ///   - password: The password of the user.
  ///   - algorithms: The algorithms that the client accepts, the preferred one first.
  public init(user: String, password: String, algorithms: [DigestAlgorithm]) {
    self.init(user: user, password: password, algorithms: algorithms) {
      String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
    }
  }

  package init(
    user: String, password: String, algorithms: [DigestAlgorithm], makeNonce: @escaping @Sendable () -> String
  ) {
    self.user = user
    self.password = password
    self.algorithms = algorithms
    self.makeNonce = makeNonce
  }

  /// Sends the request, and once more if the server asks for an answer that was not sent yet.
  public func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let home = context.plan.sending.home(of: request.url.origin)
    guard !request.fields.contains(.authorization), context.plan.access.servers.contains(home),
      context.isFirstOrigin(home)
    else {
      return try await next(request)
    }
    let known = session(at: request.url.origin)
    let first = try await next(try known.map { try answered(request, $0) } ?? request)
    let response = known == nil ? first : first.markedUnstorable()
    if let known, response.status != 401 { prove(known, at: request.url.origin) }
    guard response.status == 401, !(context.sink != nil && context.plan.rules.status.accepts(401)),
      request.body?.isReplayable ?? true,
      let session = take(response, after: known, at: request.url.origin)
    else { return response }
    let second = try await next(try answered(request, session))
    if second.status != 401 { prove(session, at: request.url.origin) }
    return second.markedUnstorable()
  }

  /// Records that the server has accepted the answers of a session.
  private func prove(_ session: Session, at origin: HTTPURL.Origin) {
    sessions.all.withLock { sessions in
      guard sessions[origin]?.clientNonce.hasSameBytes(as: session.clientNonce) == true else { return }
      sessions[origin]?.isProven = true
    }
  }

  /// The session of an origin with its count increased for one more request; nil if the origin has sent no challenge.
  private func session(at origin: HTTPURL.Origin) -> Session? {
    sessions.all.withLock { sessions in
      sessions[origin]?.count &+= 1
      return sessions[origin]
    }
  }

  /// Stores the challenge of a response with status 401 and returns the session to answer it with. Nil if no challenge
  /// can be answered, or if the server refused an answer with a nonce that was not too old: then the user or the
  /// password is wrong. A server that has accepted answers before and sends another nonce has forgotten the old one,
  /// for example after a restart.
  private func take(_ response: HTTPResponse, after refused: Session?, at origin: HTTPURL.Origin) -> Session? {
    guard let (challenge, algorithm) = DigestChallenge.strongest(in: response.fields, algorithms) else { return nil }
    let isNew =
      refused.map { old in
        challenge.isStale || !challenge.realm.hasSameBytes(as: old.challenge.realm)
          || old.isProven && !challenge.nonce.hasSameBytes(as: old.challenge.nonce)
      } ?? true
    let session = Session(challenge: challenge, algorithm: algorithm, clientNonce: makeNonce())
    return sessions.all.withLock { sessions in
      guard isNew else {
        sessions[origin] = nil
        return nil
      }
      sessions[origin] = session
      return session
    }
  }

  private func answered(_ request: HTTPRequest, _ session: Session) throws -> HTTPRequest {
    let url = request.url
    let target = String(decoding: url.string.utf8.dropFirst(url.pathStart), as: UTF8.self)
    let use = DigestChallenge.Use(
      method: request.method.rawValue, target: target.hasPrefix("/") ? target : "/" + target,
      clientNonce: session.clientNonce, count: session.count)
    let value = try session.challenge.answer(user, password, use, session.algorithm)
    var request = request
    request.fields.append(HTTPField(.authorization, value, isSecret: true))
    return request
  }
}

extension DigestAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name of the type, without user and password.
  public var description: String { "DigestAuthentication" }
  /// The name of the type, without user and password.
  public var debugDescription: String { description }
  /// The mirror for `dump(_:)`, without user and password.
  public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}
