import ErrandSupport

extension APIClient {
  /// Takes a request down the line as far as it is frozen and hands over what it has come to. Nothing is looked up and
  /// nothing is sent; accessories and hooks hear nothing.
  /// - Throws: ``APIError`` where the request cannot be built, or an interceptor refuses it.
  package func probing<R: APIRequest>(_ request: R, _ probe: @escaping FrozenProbe) async throws(APIError) {
    try await probing(request, atEnd: false, probe)
  }

  /// Takes a request down the whole line, credential, cookies and signature included, and hands over what would be
  /// sent, with what was frozen beside it. Nothing is sent; accessories and hooks hear nothing.
  /// - Throws: ``APIError`` where the request cannot be built, or a station refuses it.
  package func stamping<R: APIRequest>(_ request: R, _ probe: @escaping FrozenProbe) async throws(APIError) {
    try await probing(request, atEnd: true, probe)
  }

  private func probing<R: APIRequest>(
    _ request: R, atEnd: Bool, _ probe: @escaping FrozenProbe
  ) async throws(APIError) {
    let hasArrived = Locked(false)
    var options = CallOptions()
    options.probesEnd = atEnd
    options.probe = { frozen, context in
      hasArrived.withLock { $0 = true }
      await probe(frozen, context)
    }
    let run = run(TypedCall(request), options)
    let ending = run.finish(await listen(to: run)) { $0 }
    if !hasArrived.withLock({ $0 }), let error = ending.error { throw error }
  }

  /// The cache in use; nil where there is none.
  package var answerCache: (any AnswerCache)? { snapshot.cache }
}
