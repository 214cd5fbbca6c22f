import ErrandSupport

extension APIClient {
  /// Runs a request through the pipeline until the request is final, before the cache lookup, and passes the final
  /// request to `probe`. The cache is not read and nothing is sent; accessories and hooks are not called.
  /// - Throws: ``APIError`` if the request cannot be built, or if an interceptor rejects it.
  package func probing<R: APIRequest>(_ request: R, _ probe: @escaping FrozenProbe) async throws(APIError) {
    try await run(request, probe) { .probing($0) }
  }

  /// Runs a request through the whole pipeline and passes to `probe` the request that would be sent, with credential,
  /// cookies and signature. `probe` also receives the context of the call. Nothing is sent; accessories and hooks are
  /// not called.
  /// - Throws: ``APIError`` if the request cannot be built, or if an interceptor rejects it.
  package func stamping<R: APIRequest>(_ request: R, _ probe: @escaping FrozenProbe) async throws(APIError) {
    try await run(request, probe) { .stamping($0) }
  }

  private func run<R: APIRequest>(
    _ request: R, _ probe: @escaping FrozenProbe, as kind: (@escaping FrozenProbe) -> RunKind
  ) async throws(APIError) {
    let hasArrived = Locked(false)
    let kind = kind { frozen, context in
      hasArrived.withLock { $0 = true }
      await probe(frozen, context)
    }
    let run = run(TypedCall(request), CallOptions(), kind)
    let ending = run.finish(await listen(to: run)) { $0 }
    if !hasArrived.withLock({ $0 }), let error = ending.error { throw error }
  }

  /// The cache in use; nil if there is none.
  package var answerCache: (any ClientCache)? { snapshot.cache }
}
