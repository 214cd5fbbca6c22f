import ErrandSupport

/// The requests that ``Freezing`` fixed in one pass of a call through the pipeline. There are several if an interceptor
/// of the app called `next` several times.
final class FreezeLog: Sendable {
  private let noted = Locked<[CallContext.Frozen]>([])

  func note(_ frozen: CallContext.Frozen) { noted.withLock { $0.append(frozen) } }

  var all: [CallContext.Frozen] { noted.withLock { $0 } }
}

/// The requests that ``Freezing`` fixed in an earlier pass of a call through the pipeline. A later pass sends the same
/// requests.
final class FreezeReplay: Sendable {
  private let frozen: [CallContext.Frozen]
  private let used = Locked<Set<Int>>([])

  convenience init(_ log: FreezeLog) { self.init(log.all) }

  private init(_ frozen: [CallContext.Frozen]) { self.frozen = frozen }

  /// A new replay of the same requests, for one more pass through the pipeline.
  var again: FreezeReplay { FreezeReplay(frozen) }

  /// The request of the earlier pass that corresponds to `request`. It is an equal request, otherwise an unused one
  /// with the same method, origin and path, because an interceptor may have added a timestamp. Nil if there is none,
  /// because an interceptor now sends a different request.
  func take(for request: HTTPRequest) -> CallContext.Frozen? {
    let place = frozen.firstIndex { $0.request.isSame(as: request) } ?? unused(like: request)
    guard let place else { return nil }
    used.withLock { _ = $0.insert(place) }
    return frozen[place]
  }

  /// The first request of the earlier pass; nil if there is none.
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
