import ErrandSupport

/// Records the frozen requests (see ``Freezing``) of a call. A call may pass through the pipeline several times. This
/// object belongs to one pass. One pass has several frozen requests if an interceptor of the app called `next` several
/// times.
final class FreezeLog: Sendable {
  private let requests = Locked<[CallContext.Frozen]>([])

  func append(_ frozen: CallContext.Frozen) { requests.withLock { $0.append(frozen) } }

  var all: [CallContext.Frozen] { requests.withLock { $0 } }
}

/// The frozen requests (see ``Freezing``) of an earlier pass of a call through the pipeline. A later pass sends the
/// same requests again.
final class FreezeReplay: Sendable {
  private let frozen: [CallContext.Frozen]
  private let used = Locked<Set<Int>>([])

  convenience init(_ log: FreezeLog) { self.init(log.all) }

  private init(_ frozen: [CallContext.Frozen]) { self.frozen = frozen }

  /// A new object with the same frozen requests, all unused. The new object is needed if the call passes through the
  /// pipeline once more.
  var again: FreezeReplay { FreezeReplay(frozen) }

  /// Returns the recorded frozen request that corresponds to `request`: an equal request, otherwise the first unused
  /// request with the same method, origin and path. For example, no request is equal if an interceptor adds the current
  /// time to each URL. Returns nil if no recorded request corresponds.
  func take(for request: HTTPRequest) -> CallContext.Frozen? {
    let place = frozen.firstIndex { $0.request.isSame(as: request) } ?? unused(like: request)
    guard let place else { return nil }
    used.withLock { _ = $0.insert(place) }
    return frozen[place]
  }

  /// The first of the recorded frozen requests; nil if the call has sent no request before.
  var first: CallContext.Frozen? { frozen.first }

  private func unused(like request: HTTPRequest) -> Int? {
    let used = used.withLock { $0 }
    return frozen.indices.first { !used.contains($0) && frozen[$0].request.leadsWhere(request) }
  }
}

extension HTTPRequest {
  fileprivate func isSame(as other: HTTPRequest) -> Bool {
    method == other.method && url == other.url && body == other.body
  }

  fileprivate func leadsWhere(_ other: HTTPRequest) -> Bool {
    method == other.method && url.origin == other.url.origin && url.path == other.url.path
  }
}
