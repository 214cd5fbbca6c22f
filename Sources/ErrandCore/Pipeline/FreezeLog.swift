import ErrandSupport

/// What one pass of a call froze: one request for each descent that the app's interceptors made.
final class FreezeLog: Sendable {
  private let noted = Locked<[CallContext.Frozen]>([])

  func note(_ frozen: CallContext.Frozen) { noted.withLock { $0.append(frozen) } }

  var all: [CallContext.Frozen] { noted.withLock { $0 } }
}

/// What an earlier pass froze, for a pass that sends the same.
final class FreezeReplay: Sendable {
  private let frozen: [CallContext.Frozen]
  private let used = Locked<Set<Int>>([])

  convenience init(_ log: FreezeLog) { self.init(log.all) }

  private init(_ frozen: [CallContext.Frozen]) { self.frozen = frozen }

  /// The same for one more pass.
  var again: FreezeReplay { FreezeReplay(frozen) }

  /// What was frozen for the request: the very same, or else one to the same place that nobody took yet, since an
  /// interceptor may have stamped the time on it. Nil where there is none: an interceptor now sends something else.
  func take(for request: HTTPRequest) -> CallContext.Frozen? {
    let place = frozen.firstIndex { $0.request.isSame(as: request) } ?? unused(like: request)
    guard let place else { return nil }
    used.withLock { _ = $0.insert(place) }
    return frozen[place]
  }

  /// What was frozen first; nil where nothing was.
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
