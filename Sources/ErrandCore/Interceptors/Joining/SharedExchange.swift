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
    /// One of the waiting calls. This call is stored separately from `others`, because most exchanges have only one
    /// waiting call and so need no dictionary.
    var first: (member: MemberID, call: CallState)?
    /// All waiting calls except the call that `first` contains.
    var others: [MemberID: CallState] = [:]
    var gates: [ObjectIdentifier: ReportGate] = [:]

    mutating func serve(_ member: MemberID, _ call: CallState) {
      if first == nil { first = (member, call) } else { others[member] = call }
    }

    mutating func forget(_ member: MemberID) {
      if first?.member == member { first = nil } else { others[member] = nil }
    }

    mutating func forgetAll(but member: MemberID) {
      if first?.member != member { first = nil }
      others = others.filter { $0.key == member }
    }

    var calls: [CallState] { (first.map { [$0.call] } ?? []) + others.values }

    /// The latest deadline of the waiting calls, which is `never` if one of them has no deadline; nil if no call waits.
    var latest: MonotonicInstant? { calls.map { $0.deadline ?? SharedExchange.never }.max() }
  }

  let state: CallState
  let record: CallRecord
  let flags = CallFlags()
  private let storage = Locked(Storage())

  let starter: UInt64

  init(of context: CallContext, priority: CallPriority, timers: any Timers) {
    starter = context.info.id
    record = context.record.forExchange
    state = CallState(deadline: nil, timers: timers, priority: priority)
  }

  // MARK: - While the exchange runs

  func serve(_ member: MemberID, _ call: CallState) { storage.withLock { $0.serve(member, call) } }

  func forget(_ member: MemberID) { storage.withLock { $0.forget(member) } }

  /// The time until the latest deadline of the waiting calls; nil if one of these calls has no deadline.
  var timeLeft: Duration? {
    guard let latest = storage.withLock({ $0.latest }) else { return .zero }
    return latest == Self.never ? nil : max(.zero, state.timers.now.duration(to: latest))
  }

  /// The calls that wait for the exchange. A call that was stopped is one of them until it has left.
  var calls: [CallState] { storage.withLock { $0.calls } }

  var hasRunningCall: Bool { calls.contains { !$0.isStopped } }

  private static var never: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

  // MARK: - The end

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

  func report(_ progress: TransferProgress) { for gate in gates { gate.report(progress) } }

  func report(_ head: ResponseHead) { for gate in gates { gate.report(head) } }

  private var gates: [ReportGate] { storage.withLock { Array($0.gates.values) } }

  /// Adds the gate of a waiting call, which reports to the call from now on.
  func add(_ gate: ReportGate) { storage.withLock { $0.gates[ObjectIdentifier(gate)] = gate } }

  /// Removes the gate of a call. When this method returns, no report to the call is running and no report follows.
  func remove(_ gate: ReportGate) async {
    storage.withLock { _ = $0.gates.removeValue(forKey: ObjectIdentifier(gate)) }
    await gate.close()
  }
}
