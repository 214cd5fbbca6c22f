import ErrandSupport

/// A *shared exchange*: one exchange that several waiting calls share. The exchange has its own
/// ``ErrandHTTP/CallState`` and ``CallRecord``, and no deadline.
final class SharedExchange: Sendable {
  typealias MemberID = JoinControl.Table.MemberID

  /// The result of the exchange. The result is a separate object, so that a running exchange needs no memory for a
  /// result.
  private final class StoredResult: Sendable {
    let result: Result<HTTPResponse, any Error>
    init(_ result: Result<HTTPResponse, any Error>) { self.result = result }
  }

  private struct Storage: Sendable {
    var stored: StoredResult?
    var reservedFor: MemberID?
    /// One of the waiting calls and its deadline, which is `never` if the call has no deadline. This call is stored
    /// separately from `deadlines`, because most exchanges have only one waiting call and so need no dictionary.
    var first: (member: MemberID, deadline: MonotonicInstant)?
    /// The deadlines of all waiting calls except the call that `first` contains.
    var deadlines: [MemberID: MonotonicInstant] = [:]
    var listeners: [ObjectIdentifier: JoinListener] = [:]

    mutating func serve(_ member: MemberID, until deadline: MonotonicInstant) {
      if first == nil { first = (member, deadline) } else { deadlines[member] = deadline }
    }

    mutating func forget(_ member: MemberID) {
      if first?.member == member { first = nil } else { deadlines[member] = nil }
    }

    mutating func forgetAll(but member: MemberID) {
      if first?.member != member { first = nil }
      deadlines = deadlines.filter { $0.key == member }
    }

    /// The latest deadline of the waiting calls; nil if no call waits.
    var latest: MonotonicInstant? {
      guard let first else { return deadlines.values.max() }
      return deadlines.values.reduce(first.deadline, max)
    }
  }

  let state: CallState
  let record: CallRecord
  let flags = CallFlags()
  private let storage = Locked(Storage())

  /// The number of the call that started the exchange.
  let starter: UInt64

  /// Makes an exchange that is started by the call of the given context.
  init(of context: CallContext, priority: CallPriority, timers: any Timers) {
    starter = context.info.id
    record = context.record.forExchange
    state = CallState(deadline: nil, timers: timers, priority: priority)
  }

  // MARK: - While the exchange runs

  /// Adds a waiting call with its deadline.
  func serve(_ member: MemberID, until deadline: MonotonicInstant?) {
    storage.withLock { $0.serve(member, until: deadline ?? Self.never) }
  }

  /// Removes a call that no longer waits for the exchange, together with the deadline of the call.
  func forget(_ member: MemberID) { storage.withLock { $0.forget(member) } }

  /// The time until the latest deadline of the waiting calls; nil if one of these calls has no deadline.
  var timeLeft: Duration? {
    guard let latest = storage.withLock({ $0.latest }) else { return .zero }
    return latest == Self.never ? nil : max(.zero, state.timers.now.duration(to: latest))
  }

  private static var never: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

  // MARK: - The end

  /// Stores the result of the exchange.
  func finish(_ result: Result<HTTPResponse, any Error>) {
    state.settle()
    let stored = StoredResult(result)
    storage.withLock { $0.stored = stored }
  }

  /// The result of the exchange for a waiting call; nil if this call must send its request separately.
  func result(for member: MemberID) -> Result<HTTPResponse, any Error>? {
    storage.withLock { $0.reservedFor == nil || $0.reservedFor == member ? $0.stored : nil }?.result
  }

  /// Reserves the exchange for one waiting call. All other waiting calls get no result, and must send their requests
  /// separately.
  func reserve(for member: MemberID) {
    storage.withLock { storage in
      storage.reservedFor = member
      storage.forgetAll(but: member)
    }
  }

  /// Whether the exchange serves the given call. False if the exchange is reserved for another call.
  func belongs(to member: MemberID) -> Bool { storage.withLock { $0.reservedFor == nil || $0.reservedFor == member } }

  // MARK: - Progress

  /// Reports the progress of the exchange to the listeners of all waiting calls.
  func report(_ progress: TransferProgress) { for listener in listeners { listener.report(progress) } }

  /// Reports an informational response to the listeners of all waiting calls.
  func report(_ head: ResponseHead) { for listener in listeners { listener.report(head) } }

  private var listeners: [JoinListener] { storage.withLock { Array($0.listeners.values) } }

  func add(_ listener: JoinListener) { storage.withLock { $0.listeners[ObjectIdentifier(listener)] = listener } }

  /// Removes a listener. When this method returns, the listener is not being called and is not called again.
  func remove(_ listener: JoinListener) async {
    storage.withLock { _ = $0.listeners.removeValue(forKey: ObjectIdentifier(listener)) }
    await listener.close()
  }
}

/// Reports the progress and the informational responses of an exchange to one call: of a shared exchange, or of a
/// request that ``Hedging`` may send twice. Reports do not overlap, and no report is made after ``close()`` has returned.
///
/// The table shows the effect of the methods `report` and `close` in each phase of the listener, and the next phase:
///
/// | phase | report | close |
/// |---|---|---|
/// | idle | reporting, then idle | closed |
/// | reporting | – | closing: waits for the report to end |
/// | closed | nothing | – |
final class JoinListener: Sendable {
  private enum Phase: Sendable {
    case idle, reporting, closed
    case closing(UnsafeContinuation<Void, Never>)
  }

  private let phase = Locked(Phase.idle)
  private let onProgress: (@Sendable (TransferProgress) -> Void)?
  private let onInformational: (@Sendable (ResponseHead) -> Void)?

  /// Makes a listener with the closures of a call; nil if the call has none.
  init?(_ context: CallContext) {
    onProgress = context.onProgress
    onInformational = context.onInformational
    if onProgress == nil, onInformational == nil { return nil }
  }

  /// Reports progress on the current thread, which is a thread of the transport.
  func report(_ progress: TransferProgress) { report { onProgress?(progress) } }

  /// Reports an informational response on the current thread, which is a thread of the transport.
  func report(_ head: ResponseHead) { report { onInformational?(head) } }

  private func report(_ callback: () -> Void) {
    let mayReport = phase.withLock { phase in
      guard case .idle = phase else { return false }
      phase = .reporting
      return true
    }
    guard mayReport else { return }
    callback()
    let waiting = phase.withLock { phase -> UnsafeContinuation<Void, Never>? in
      guard case .closing(let waiting) = phase else {
        phase = .idle
        return nil
      }
      phase = .closed
      return waiting
    }
    waiting?.resume()
  }

  /// Closes the listener. When this method returns, no report is running and no report follows.
  func close() async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isClosed = phase.withLock { phase in
        if case .reporting = phase {
          phase = .closing(continuation)
          return false
        }
        phase = .closed
        return true
      }
      if isClosed { continuation.resume() }
    }
  }
}
