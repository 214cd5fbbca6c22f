import ErrandJSON
import ErrandSupport

extension CallRun {
  func plan() throws(APIError) -> CallPlan {
    // A refused call is refused for this reason alone: the transport of a client that has drained can do nothing.
    if let refusal { throw refusal }
    if place == CallRegistry.refused { throw .draining }
    let request = info.request
    let validation = validation(of: request)
    if isStreamed { try checkStreaming(validation) }
    let credential = credential(of: request)
    let cache = request.cache
    return CallPlan(
      validation,
      formatTypes: validation.contentTypes == nil && typed.decodes
        ? typed.input.contentTypes(in: formats.shared) : nil,
      access(of: request, credential), try sendingRules(of: request, validation.bodyLimit),
      download: download, log: log, cache: cache, cacheKey: key(in: cache, family), joining: joining, kind: kind)
  }

  private func access(of request: any APIRequest, _ credential: RequestCredential) -> CallAccess {
    let requiresAccount = credential == .inherited || options.requiresAccountAlways
    return CallAccess(
      credential: credential, provider: snapshot.configuration.credentials, transport: snapshot.transport,
      nesting: nesting, exchangeInterceptors: snapshot.configuration.interceptors.exchanges,
      requiredAccount: requiresAccount ? options.requiredAccount : nil, base: snapshot.base,
      servers: NamedServers(snapshot.bases, family), cookies: cookies(of: request))
  }

  private func sendingRules(
    of request: any APIRequest, _ bodyLimit: BodyLimit
  ) throws(APIError) -> SendingRules {
    SendingRules(
      redirects: redirects(of: request), retries: retries(of: request), idempotency: request.idempotency,
      hosts: try snapshot.hosts.get(), connectTimeout: (timeouts.connect ?? .standardConnect).duration,
      idleTimeout: (timeouts.idle ?? .standardIdle).duration, totalTimeout: totalTimeout, limits: limits(bodyLimit),
      network: request.network, exchangeCheck: options.exchangeCheck, noteDownload: options.noteDownload)
  }

  // MARK: - The settings in force: those of the call, the request, its family or the client

  private func validation(of request: any APIRequest) -> ResponseValidation {
    let own = request.validation
    var validation = own.filled(by: family?.value.validation).filled(by: snapshot.configuration.validation)
    // A downloaded file has no envelope, even if the client or the ``RequestFamily`` declares one. An envelope is a
    // JSON object around the value, such as `{"code": 0, "data": …}`.
    if hasDownload { validation.envelope = own.envelope.filled(by: Envelope.none) }
    // What the family and the client say about their format cannot fit bytes, texts, files and bodies without content.
    if !typed.decodes || isStreamed || !typed.input.readsDeclaredFormat {
      if own.contentTypes == nil, validation.contentTypes != nil { validation.contentTypes = nil }
      if own.shape == nil, validation.shape != nil { validation.shape = nil }
    }
    return validation
  }

  /// The credential that the request declares. But a request that the credential provider sends in order to supply or
  /// refresh a credential carries no credential of the provider.
  private func credential(of request: any APIRequest) -> RequestCredential {
    let declared = request.credential
    return isInsideProvider && declared == .inherited ? .none : declared
  }

  private func cookies(of request: any APIRequest) -> CookieRule {
    guard request.cookies == .inherited else { return .off }
    return snapshot.configuration.cookies.ignoringInCache(snapshot.configuration.cache.ignoredCookies)
  }

  private func redirects(of request: any APIRequest) -> RedirectPolicy {
    request.redirects.filled(by: family?.value.redirects).filled(by: snapshot.configuration.redirects)
      .filled(by: .follow()).resending(keyOf: request.idempotency)
  }

  func retries(of request: any APIRequest) -> RetryPolicy {
    let policy = options.retries.filled(by: request.retries).filled(by: family?.value.retries)
      .filled(by: snapshot.configuration.retries)
    return policy.sendsAgain ? policy : .none
  }

  private func limits(_ bodyLimit: BodyLimit) -> ResponseLimits {
    var limits = snapshot.configuration.limits
    if case .bytes(let count) = options.bodyLimit.filled(by: bodyLimit) { limits.bodyBytes = max(count, 0) }
    return limits
  }

  /// The rule for the cache key: that of the request's policy, otherwise of its family's, otherwise of the client's.
  private func key(in cache: CachePolicy, _ family: SharedFamily?) -> CacheKeyRule {
    cache.key ?? family?.value.cache.key ?? snapshot.configuration.cache.policy.key ?? CacheKeyRule()
  }

  private var joining: JoinRule {
    if isStreamed { return .never }
    return options.joining.filled(by: typed.overlap.joining).filled(by: family?.value.overlap.joining)
      .filled(by: snapshot.configuration.overlap.joining)
  }

  // MARK: - Checks and parts

  private func checkStreaming(_ validation: ResponseValidation) throws(APIError) {
    let what = hasDownload ? "download" : "body sink"
    if case .success = snapshot.pipeline, !snapshot.capabilities.contains(.bodySink) {
      throw .build(
        .unsupported,
        "The transport cannot pass the response body to a \(what) (capability bodySink); choose another transport.")
    }
    if validation.readsJSON {
      throw .build(
        .unsupported,
        "A call with a \(what) has no body in memory to validate; declare no `shape` in the `validation`, and declare"
          + " `Envelope.none` as its `envelope`.")
    }
    guard hasDownload else { return }
    if options.bodySink != nil {
      throw .build(
        .unsupported,
        "A request with a `download` cannot have a `bodySink`; remove the `bodySink` from the call options.")
    }
    if typed.input.readsBody {
      throw .build(
        .unsupported,
        "A request with a `download` has no body in memory to decode; use `DownloadedFile` as its `Response`.")
    }
  }

  /// The cache settings of the call; nil if no cache rule applies, if the response body is streamed to a sink or a file,
  /// or if the call notifies the server of a logout. The account of such a call may be logged in again, and its stored
  /// responses then belong to the new session.
  /// - Throws: ``APIError`` if a call that cannot use the cache may only read the cache.
  func cachePlan(_ plan: CallPlan) throws(APIError) -> CachePlan? {
    let own = plan.cache
    let declared = own.isInherited ? family?.value.cache ?? .inherited : own
    let targets = own.targets ?? .own
    // Compares the policy of the client property by property. A copy of the whole policy would, on every call, change
    // the reference counts of objects that all threads share, which is slow.
    let isSilent =
      declared.isNone
      || declared.isInherited && snapshot.configuration.cache.rules.isEmpty
        && snapshot.configuration.cache.policy.model == nil
    let isCacheless = isStreamed || (plan.access.provider as? CredentialStore)?.isLoggingOut == true
    if isCacheless, options.cache.usesOnlyCache { throw .cacheMiss(.disabled) }
    if isCacheless || isSilent && targets.requests.isEmpty && !options.cache.usesOnlyCache { return nil }
    // An interceptor of the app may change response bodies. With interceptors, the stored bytes and the decoding rules
    // therefore do not determine the decoded value, and the cache must not reuse a decoded value.
    let bodiesAreFinal = snapshot.configuration.interceptors.calls.isEmpty
    let aliases = try targets.requests.map { other throws(APIError) in try cacheAlias(other) }
    return CachePlan(
      declared: own.withoutNaming, inheritance: inheritance(family), mode: options.cache,
      commonHeaders: snapshot.configuration.headers, appVersion: snapshot.configuration.cache.appVersion,
      aliases: aliases, storesOwn: targets.includesOwn, bodiesAreFinal: bodiesAreFinal,
      decodedRules: bodiesAreFinal ? typed.decodedRules(plan, decodingRules(plan.rules.envelope)) : nil)
  }

  /// The rules for decoding a response with the given envelope. For the body of a rejected response, the caller passes
  /// `Envelope.none`.
  func decodingRules(_ envelope: Envelope) -> DecodingRules {
    DecodingRules(json: formats.jsonDecoding, envelope: envelope, format: formats.shared)
  }

  private func inheritance(_ family: SharedFamily?) -> CacheInheritance {
    CacheInheritance(
      family: family?.value.cache ?? .inherited, rules: snapshot.configuration.cache.rules,
      standing: snapshot.configuration.cache.policy)
  }

  private func cacheAlias(_ request: any APIRequest) throws(APIError) -> CacheAlias {
    let built = try snapshot.builder.build(whole: request)
    guard built.isComparable else {
      throw .build(
        .unsupported,
        "`stored(as:)` names a request with a streamed body, which cannot identify a stored response;"
          + " give the body as data.")
    }
    let declared = request.cache
    let family = request.family.map(SharedFamily.init)
    let policy = declared.isInherited ? inheritance(family).policy(for: built) : declared
    return CacheAlias(
      request: built, given: request, policy: policy.withoutNaming, key: key(in: declared, family))
  }

  /// Returns a function that reports progress on the callback executor; nil if neither a callback nor an accessory
  /// receives progress.
  func progress() -> (@Sendable (TransferProgress) -> Void)? {
    guard let callbackQueue else { return nil }
    let timers = snapshot.timers
    let meter = Locked(ProgressMeter())
    return { [state, info, accessories, nesting, onProgress = callbacks.onProgress] progress in
      let progress = meter.withLock { $0.measured(progress, at: timers.now) }
      callbackQueue.run {
        guard !state.isClaimed else { return }
        for accessory in accessories {
          UserCodeScope.during(type(of: accessory), in: nesting) { accessory.progressed(info, progress) }
        }
        onProgress?(info, progress)
      }
    }
  }

  /// Returns a function that passes informational responses to the accessories on the callback executor; nil if there
  /// are no accessories.
  func informational() -> (@Sendable (ResponseHead) -> Void)? {
    guard let callbackQueue, !accessories.isEmpty else { return nil }
    return { [state, info, accessories, nesting] head in
      callbackQueue.run {
        guard !state.isClaimed else { return }
        for accessory in accessories {
          UserCodeScope.during(type(of: accessory), in: nesting) { accessory.received(info, informational: head) }
        }
      }
    }
  }
}
