import ErrandSupport
import Foundation

/// The key of a shared exchange: calls with equal keys may share one exchange.
///
/// The key contains:
/// - the method, URL, fields and body of the request, without arguments that the cache key leaves out,
/// - the account, the credential and the cookies,
/// - the rules for storing the response,
/// - limits, time-outs, redirects and retries,
/// - the baggage that a ``CallTracer`` adds,
/// - the pipeline.
///
/// The key does not contain the status rule, shape, decoder, priority, deadline, progress and owner. These properties
/// may differ between calls that share an exchange.
///
/// The type is a class, so that the table copies only a reference. The hash is computed once, and keys are compared in
/// full only if their hashes are equal.
final class JoinKey: Sendable {
  private enum Body: Sendable, Hashable {
    case none
    case bytes(Data)
    case pieces([ArraySlice<UInt8>])
  }

  let request: HTTPRequest
  let context: CallContext
  private let pipeline: ObjectIdentifier
  private let target: ByteText
  private let body: Body
  private let account: ByteText?
  private let cookies: ByteText?
  private let baggage: ByteText?
  private let showsCredential: Bool
  private let isRefreshed: Bool
  private let hash: Int

  init(_ request: HTTPRequest, _ context: CallContext, pipeline: Pipeline) {
    self.request = request
    self.context = context
    self.pipeline = ObjectIdentifier(pipeline)
    let leftOut = context.plan.cacheKey.leftOut
    target = ByteText(leftOut.isEmpty ? request.url.string : request.url.leavingOut(leftOut))
    body = Self.body(of: request, leftOut)
    account = context.account.map { ByteText($0) }
    cookies = context.cookies(for: request).map { ByteText($0) }
    // Found here and not in a comparison, because the function may run code of the app, and keys are compared under the
    // lock of the table.
    baggage = context.record.trace?.values(
      for: request, isFirstOrigin: context.isFirstOriginOrUnknown(request.url.origin)
    ).map { ByteText($0) }
    showsCredential = context.showsCredential(to: request.url.origin)
    isRefreshed = context.flags.isRefreshed
    // The header fields are compared but not hashed. Requests for the same URL mostly have the same fields, so hashes
    // of the fields would rarely distinguish two keys.
    var hasher = Hasher()
    hasher.combine(target)
    hasher.combine(body)
    hasher.combine(account)
    hasher.combine(cookies)
    if let baggage { hasher.combine(baggage) }
    if case .own(let credential) = context.plan.access.credential { hasher.combine(credential) }
    hash = hasher.finalize()
  }

  private static func body(of request: HTTPRequest, _ leftOut: Set<String>) -> Body {
    guard let body = request.body?.data else { return .none }
    if leftOut.isEmpty { return .bytes(body) }
    let pieces = LeftOutArguments(Array(leftOut)).pieces(of: body, type: request.fields[.contentType])
    return pieces.map(Body.pieces) ?? .bytes(body)
  }
}

extension JoinKey: Hashable {
  static func == (left: JoinKey, right: JoinKey) -> Bool {
    left === right
      || left.hash == right.hash && left.pipeline == right.pipeline && left.isSameRequest(as: right)
        && left.isSamePerson(as: right) && left.context.plan.isSameTransfer(as: right.context.plan)
        && left.isSameStoring(as: right)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  private func isSameRequest(as other: JoinKey) -> Bool {
    request.method == other.request.method && target == other.target && body == other.body
      && request.fields == other.request.fields && baggage == other.baggage
      && context.plan.cacheKey == other.context.plan.cacheKey
  }

  /// True if both calls send the same data that identifies the user: account, cookies, credential and signature. Four
  /// comparisons need an explanation:
  ///
  /// - `showsCredential` and `isFirstOrigin`: After a redirect to another origin neither the credential nor a signature
  ///   is sent.
  /// - `servers`: A signature is sent only to servers that the client or the request's ``RequestFamily`` names.
  /// - `isRefreshed`: A joining call refreshes its credential at most once. After the refresh it must not wait for an
  ///   exchange that started with the old credential.
  private func isSamePerson(as other: JoinKey) -> Bool {
    account == other.account && cookies == other.cookies
      && context.plan.access.credential == other.context.plan.access.credential
      && isRefreshed == other.isRefreshed && showsCredential == other.showsCredential
      && context.plan.access.servers == other.context.plan.access.servers
      && context.isFirstOrigin(request.url.origin) == other.context.isFirstOrigin(other.request.url.origin)
  }

  /// True if both calls store the response under the same cache key, and no entry was removed from the cache between
  /// their cache lookups.
  private func isSameStoring(as other: JoinKey) -> Bool {
    let mark = context.lookup?.joinMark
    guard mark == other.context.lookup?.joinMark else { return false }
    if mark != nil, !context.info.tag.hasSameBytes(as: other.context.info.tag) { return false }
    switch (context.cache, other.context.cache) {
    case (nil, nil): return true
    case (let mine?, let theirs?): return mine.storesLike(theirs, for: request)
    case (nil, _?), (_?, nil): return false
    }
  }
}

extension CallPlan {
  /// Whether both calls have equal settings for the transport.
  fileprivate func isSameTransfer(as other: CallPlan) -> Bool {
    sending.isSame(as: other.sending) && access.cookies.isOn == other.access.cookies.isOn
  }
}

extension SendingRules {
  /// Whether the settings are equal, except for the fallback servers, which all calls of a client share.
  fileprivate func isSame(as other: SendingRules) -> Bool {
    limits == other.limits && connectTimeout == other.connectTimeout && idleTimeout == other.idleTimeout
      && redirects == other.redirects && network == other.network && retries == other.retries
      && idempotency == other.idempotency
  }
}

extension CachePlan {
  fileprivate func storesLike(_ other: CachePlan, for request: HTTPRequest) -> Bool {
    self === other
      || mode == other.mode && asksAlways == other.asksAlways
        && policy(for: request) == other.policy(for: request) && appVersion == other.appVersion
        && storesOwn == other.storesOwn && aliases.elementsEqual(other.aliases, by: CacheAlias.areSame)
  }
}

extension CacheAlias {
  fileprivate static func areSame(_ one: CacheAlias, _ other: CacheAlias) -> Bool {
    one.policy == other.policy && one.key == other.key && one.request.method == other.request.method
      && one.request.url == other.request.url && one.request.fields == other.request.fields
      && one.request.body == other.request.body
  }
}

extension HTTPURL {
  /// The URL as text, without the query arguments that have the given names.
  fileprivate func leavingOut(_ names: Set<String>) -> String {
    let query = LeftOutArguments(Array(names)).query(query)
    return "\(origin)\(path)" + (query.map { "?\($0)" } ?? "")
  }
}
