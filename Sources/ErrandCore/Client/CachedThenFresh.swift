/// A sequence of one or two values: the stored response, then the response of the server.
struct CachedThenFresh<Value: Sendable>: AsyncSequence, Sendable {
  let start: @Sendable (@escaping @Sendable (Event) -> Void) -> Call

  enum Event: Sendable {
    case value(APIResponse<Value>)
    case end(APIError?)
  }

  func makeAsyncIterator() -> Iterator {
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    let call = start { event in
      continuation.yield(event)
      if case .end = event { continuation.finish() }
    }
    continuation.onTermination = { reason in
      if case .cancelled = reason { call.cancel() }
    }
    return Iterator(events: events.makeAsyncIterator())
  }

  struct Iterator: AsyncIteratorProtocol {
    var events: AsyncStream<Event>.Iterator
    /// True if the iterator has returned nil or thrown an error. Each later call returns nil.
    var isOver = false

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(APIError) -> APIResponse<Value>? {
      if isOver { return nil }
      let event = await events.next(isolation: actor)
      if case .value(let response) = event { return response }
      isOver = true
      if case .end(let error) = event {
        if let error { throw error }
      } else if Task.isCancelled {
        throw .stopped(.cancelled)
      }
      return nil
    }
  }
}

extension APIClient {
  /// Returns the stored response of any age first, then asks the server, even if the stored response is fresh.
  ///
  /// ```swift
  /// for try await page in client.cachedThenFresh(Feed()) { show(page.value, from: page.origin) }
  /// ```
  ///
  /// The sequence has one or two values, each with its ``APIResponse/origin``: the cache or the server. If both
  /// responses are equal, the second value is omitted. If no response is stored, or if the request's rules reject the
  /// stored response, only the response of the server is returned. If the request to the server fails, the loop first
  /// receives the stored value and then throws the error.
  ///
  /// Each loop over the sequence is a separate call. Leaving the loop early cancels the call. Both values belong to one
  /// call: accessories, hooks and the deadline apply once, and the request is built once.
  public func cachedThenFresh<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) -> some AsyncSequence<APIResponse<R.Response>, APIError> & Sendable {
    cachedThenFresh(request, options: options, omitsUnchanged: true)
  }

  /// The same sequence. If `omitsUnchanged` is false, it delivers the response of the server also if it equals the
  /// stored response, because a caller may need to know that the server has confirmed the value.
  package func cachedThenFresh<R: APIRequest>(
    _ request: R, options: CallOptions, omitsUnchanged: Bool
  ) -> some AsyncSequence<APIResponse<R.Response>, APIError> & Sendable {
    CachedThenFresh { deliver in
      self.launch(
        request, options, .init(),
        onCached: { _, outcome in if let response = outcome.full { deliver(.value(response)) } },
        onEnd: { _, outcome in
          if !(omitsUnchanged && outcome.isUnchanged), let response = outcome.full { deliver(.value(response)) }
          deliver(.end(outcome.error))
        })
    }
  }

  /// Starts a request that delivers the stored response of any age first, then the response of the server. The closures
  /// are called on the main actor.
  ///
  /// `onCached` is called at most once, and before `onEnd`. `onEnd` is called exactly once; ``Outcome/isUnchanged`` is
  /// true if the server's response equals the stored response.
  @discardableResult
  public func start<R: APIRequest>(
    cachedThenFresh request: R, options: CallOptions = CallOptions(),
    onCached: @escaping @MainActor (APIResponse<R.Response>) -> Void,
    onEnd: @escaping @MainActor (Outcome<R.Response>) -> Void,
    onProgress: (@MainActor (TransferProgress) -> Void)? = nil
  ) -> Call {
    launch(
      request, options, .onMain(onProgress),
      onCached: { _, outcome in
        MainActor.assumeIsolated { if let response = outcome.full { onCached(response) } }
      },
      onEnd: { _, outcome in MainActor.assumeIsolated { onEnd(outcome) } })
  }

  /// Starts a request that delivers the stored response of any age first, then the response of the server. The closures
  /// are called on `executor`.
  @discardableResult
  public func start<R: APIRequest>(
    cachedThenFresh request: R, on executor: CallbackExecutor, options: CallOptions = CallOptions(),
    onCached: @escaping @Sendable (APIResponse<R.Response>) -> Void,
    onEnd: @escaping @Sendable (Outcome<R.Response>) -> Void,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> Call {
    launch(
      request, options, .on(executor, onProgress),
      onCached: { _, outcome in if let response = outcome.full { onCached(response) } },
      onEnd: { _, outcome in onEnd(outcome) })
  }

  /// Starts a request that delivers the stored response of any age first, then the response of the server. The delegate
  /// is called on the main actor: first ``CachedCallDelegate/requestCached(_:_:)``, then
  /// ``CallDelegate/requestFinished(_:_:)`` or ``CallDelegate/requestFailed(_:_:)``. The call references the delegate
  /// weakly.
  @discardableResult
  public func start<R: APIRequest>(
    cachedThenFresh request: R, options: CallOptions = CallOptions(), delegate: any CachedCallDelegate
  ) -> Call {
    launch(
      request, options, .init(executor: .main, onProgress: delegate.progressCallback),
      onCached: { [weak delegate] info, outcome in
        MainActor.assumeIsolated { if let response = outcome.erased { delegate?.requestCached(info, response) } }
      },
      onEnd: { [weak delegate] info, outcome in
        MainActor.assumeIsolated { delegate?.notify(info, outcome) }
      })
  }
}
