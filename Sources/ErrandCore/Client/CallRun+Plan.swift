import ErrandJSON
import ErrandSupport

extension CallRun {
  func plan() throws(APIError) -> CallPlan {
    let request = info.request
    // What is said for all answers is not meant for files.
    let inherited = download == nil ? family?.envelope ?? snapshot.configuration.envelope : nil
    let envelope = request.envelope ?? inherited
    if isStreamed { try checkStreaming(envelope) }
    let contentTypes = request.contentTypes
    let format = family?.responseFormat ?? snapshot.configuration.responseFormat
    let retries = options.retries ?? request.retries ?? family?.retries ?? snapshot.configuration.retries
    // What a provider sends while it is asked for a credential shows none of that provider.
    let declared = request.credential
    let credential = isInsideProvider && declared == .inherited ? RequestCredential.none : declared
    if let refusal = AppScope.refusal(of: nesting) { throw refusal }
    return CallPlan(
      statusRule: request.statusRule ?? family?.statusRule ?? snapshot.configuration.statusRule,
      contentTypes: contentTypes, formatTypes: contentTypes == nil ? typed.contentTypes(in: format) : nil,
      shape: request.shape, envelope: envelope,
      credential: credential, provider: snapshot.configuration.credentials, transport: snapshot.transport,
      nesting: nesting,
      hasExchangeInterceptors: !snapshot.configuration.exchangeInterceptors.isEmpty,
      requiredAccount: credential == .inherited ? options.requiredAccount : nil, base: snapshot.base,
      servers: NamedServers(snapshot.builder, family),
      cookies: request.cookies == .inherited
        ? snapshot.configuration.cookies.ignoringInCache(snapshot.configuration.cookiesIgnoredByCache) : .off,
      redirects: request.redirects ?? snapshot.configuration.redirects,
      retries: retries.attempts > 1 || retries.hedging != nil ? retries : nil, idempotency: request.idempotency,
      hosts: try snapshot.hosts.get(), connectTimeout: (timeouts.connect ?? .seconds(10)).duration,
      idleTimeout: (timeouts.idle ?? .seconds(60)).duration,
      limits: snapshot.configuration.limits, network: request.network, download: download, log: log,
      cacheKey: request.cacheKey,
      joining: isStreamed
        ? .never : options.joining.filled(by: request.joining.filled(by: snapshot.configuration.joining)),
      probe: options.probesEnd ? nil : options.probe, endProbe: options.probesEnd ? options.probe : nil)
  }

  /// Whether the body goes elsewhere than into memory.
  private var isStreamed: Bool { options.bodySink != nil || download != nil }

  private func checkStreaming(_ envelope: Envelope?) throws(APIError) {
    let what = download == nil ? "body sink" : "download"
    if case .success = snapshot.line, !snapshot.capabilities.contains(.bodySink) {
      throw .build(
        .unsupported, "The transport cannot hand a body to a \(what) (capability bodySink); choose another one.")
    }
    if info.request.shape != nil || envelope?.code != nil {
      throw .build(
        .unsupported,
        "A call with a \(what) has no body in memory to judge; declare no shape, and `Envelope.bare` as envelope.")
    }
    guard download != nil else { return }
    if options.bodySink != nil {
      throw .build(.unsupported, "A request with a `download` writes its file itself; give the call no `bodySink`.")
    }
    if typed.readsBody {
      throw .build(
        .unsupported,
        "A request with a `download` has no body in memory to decode; take `DownloadedFile` as its `Response`.")
    }
  }

  /// Nil where nobody says anything about the cache, and where a sink takes the body, unless nobody may be asked.
  func cachePlan(_ plan: CallPlan) throws(APIError) -> CachePlan? {
    let request = info.request
    let own = request.cache
    let declared = own.isInherited ? family?.cache ?? .inherited : own
    let other = request.cachedAs
    // Its parts are read one by one: a copy of the whole would retain what all threads retain, for every call.
    let isSilent =
      declared == .none
      || declared.isInherited && snapshot.configuration.cacheRules.isEmpty
        && snapshot.configuration.cachePolicy.model == nil
    if isStreamed, options.cache.asksNobody { throw .cacheMiss(.disabled) }
    if isStreamed || isSilent && other == nil && !options.cache.asksNobody { return nil }
    // An interceptor of the app may turn bodies, so that bytes and rules do not say what comes of them.
    let bodiesAreFinal = snapshot.configuration.interceptors.isEmpty
    let alias = try other.map { other throws(APIError) in try cacheAlias(other) }
    return CachePlan(
      declared: own, inheritance: CacheInheritance(family, snapshot.configuration), mode: options.cache,
      key: plan.cacheKey, appVersion: snapshot.configuration.appVersion, alias: alias,
      bodiesAreFinal: bodiesAreFinal, request: request,
      decodedRules: bodiesAreFinal ? typed.decodedRules(plan, decodingRules(plan.envelope)) : nil)
  }

  /// How the answer is read, and the body of a refusal, which no envelope surrounds.
  func decodingRules(_ envelope: Envelope?) -> DecodingRules {
    DecodingRules(
      json: jsonDecoding, envelope: envelope,
      format: family?.responseFormat ?? snapshot.configuration.responseFormat)
  }

  private func cacheAlias(_ request: any APIRequest) throws(APIError) -> CacheAlias {
    let built = try snapshot.builder.build(whole: request)
    guard built.isComparable else {
      throw .build(
        .unsupported,
        "An answer cannot be stored under a request whose body is read while it is sent; give it as data.")
    }
    let declared = request.cache
    let inheritance = CacheInheritance(request.family, snapshot.configuration)
    let policy = declared.isInherited ? inheritance.policy(for: built) : declared
    return CacheAlias(request: built, given: request, policy: policy, key: request.cacheKey)
  }

  /// Tells progress on the callback executor; nil where nobody is told.
  func progress() -> (@Sendable (TransferProgress) -> Void)? {
    guard let lane else { return nil }
    let timers = snapshot.timers
    let meter = Locked(ProgressMeter(start: timers.now))
    return { [state, info, accessories, onProgress = delivery.onProgress] progress in
      let progress = meter.withLock { $0.measured(progress, at: timers.now) }
      lane.run {
        guard !state.isClaimed else { return }
        for accessory in accessories { accessory.progressed(info, progress) }
        onProgress?(info, progress)
      }
    }
  }
}
