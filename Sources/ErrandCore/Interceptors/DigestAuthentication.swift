import ErrandSupport
import Foundation

/// An interceptor that answers the challenges of servers with Digest authentication (RFC 7616). The password is never
/// sent. Place the interceptor in ``Interceptors/exchanges``.
///
/// ```swift
/// configuration.interceptors.exchanges.append(DigestAuthentication(user: "ada", password: password))
/// ```
///
/// The first request to an origin gets status 401 and is sent again with the answer; later requests contain an answer
/// at once. A body that can be read only once cannot be sent again, so such a request fails with 401 if it is the first
/// one, or if the server has replaced its challenge; the next request contains the answer. Requests to servers that
/// neither the client nor the request's ``RequestFamily`` names, requests after a redirect to another origin, TRACE
/// requests, and requests with an `Authorization` field are not changed. Responses to answered requests are not stored.
///
/// The second request of a call has the same cookies as the first and takes no token of a ``HostRate``. So a server
/// that binds its challenge to a cookie of the response with status 401 accepts only the next call.
///
/// The quality of protection `auth` is supported, `auth-int` is not. The product `ErrandChecksum` has the initializer
/// with the algorithms SHA-256 and MD5.
public struct DigestAuthentication: Interceptor {
  /// The newest session of each origin, which all copies of the interceptor share.
  private final class Sessions: Sendable {
    struct Entry: Sendable {
      var newest: DigestSession
      /// Whether the server has refused the user or the password of the session. The session is then used no more, but
      /// it still says which protection the server has accepted before.
      var isRefused = false
    }

    let all = Locked<[HTTPURL.Origin: Entry]>([:])
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
    self.init(user: user, password: password, algorithms: algorithms, makeNonce: DigestSession.makeNonce)
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
    guard !request.fields.contains(.authorization), request.method.mayCarryStoredSecrets,
      context.plan.access.servers.contains(home), context.isFirstOrigin(home)
    else {
      return try await next(request)
    }
    let known = session(at: request.url.origin)
    let first = try await next(try known.map { try answered(request, $0) } ?? request)
    let response = known == nil ? first : first.markedUnstorable()
    if let known { note(response, to: known, at: request.url.origin) }
    guard response.status == 401, learn(response, after: known, at: request.url.origin),
      !(context.sink != nil && context.plan.rules.status.accepts(401)), request.body?.isReplayable ?? true,
      let session = session(at: request.url.origin)
    else { return response }
    let second = try await next(try answered(request, session))
    note(second, to: session, at: request.url.origin)
    return second.markedUnstorable()
  }

  /// Returns false, because the user is the same for all accounts, and responses to answered requests are not stored.
  public func mayRevealAccount(in request: HTTPRequest, context: CallContext) -> Bool { false }

  /// Records that the server has accepted an answer of a session, if it has.
  private func note(_ response: HTTPResponse, to used: DigestSession, at origin: HTTPURL.Origin) {
    guard response.status != 401 else { return }
    sessions.all.withLock { $0[origin]?.newest.accepted(used, information: response.fields["Authentication-Info"]) }
  }

  /// The session of an origin for one more request; nil if the origin has sent no challenge.
  private func session(at origin: HTTPURL.Origin) -> DigestSession? {
    sessions.all.withLock { $0[origin]?.isRefused == false ? $0[origin]?.newest.next() : nil }
  }

  /// Stores the challenge of a response with status 401. Returns false if no challenge can be answered, or if the server
  /// has refused the user or the password.
  private func learn(_ response: HTTPResponse, after refused: DigestSession?, at origin: HTTPURL.Origin) -> Bool {
    let challenges = AuthenticationChallenge.all(in: response.fields.values(of: "WWW-Authenticate"))
    guard let challenge = DigestChallenge.strongest(in: challenges, hashes: algorithms.map(\.name)) else {
      return false
    }
    return sessions.all.withLock { sessions in
      let newest = sessions[origin]?.newest
      let stored = sessions[origin]?.isRefused == false ? newest : nil
      let isRefused = refused.map { stored?.isSame(as: $0) == true } ?? false
      // Another call may have received the same challenge. Its answers and those of this call are counted together.
      if let stored, !isRefused, stored.answers(challenge) { return true }
      // The challenge may belong to a request that was sent before the stored session.
      if let newest, newest.isWeakened(by: challenge) { return false }
      if let last = isRefused ? stored : refused, !last.isFollowed(by: challenge) {
        if isRefused, !last.isProven { sessions[origin]?.isRefused = true }
        return false
      }
      sessions[origin] = Sessions.Entry(newest: DigestSession(challenge, clientNonce: makeNonce(), after: newest))
      return true
    }
  }

  private func answered(_ request: HTTPRequest, _ session: DigestSession) throws -> HTTPRequest {
    let value = try session.answer(user, password, method: request.method.rawValue, target: request.url.target) {
      try hash($0, session.hashName)
    }
    var request = request
    request.fields.append(HTTPField(.authorization, value, isSecret: true))
    return request
  }

  private func hash(_ data: Data, _ name: String) throws -> Data {
    guard let hash = try algorithms.first(where: { $0.name == name })?.makeHash() else { return Data() }
    data.withUnsafeBytes { hash.update($0) }
    return hash.finish()
  }
}

extension DigestAuthentication: Masked {
  /// The name of the type, without user and password.
  public var description: String { "DigestAuthentication" }
}
