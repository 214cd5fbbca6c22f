import ErrandCache
import ErrandSupport

/// The decision which entries are sent next, and when the outbox looks again. A pure function makes the decision.
struct OutboxSchedule: Sendable, Equatable {
  /// The data on which the decision depends.
  struct Input: Sendable {
    /// The first entries of their lanes, in the order in which they should be sent. There may be more in the store.
    var heads: [EntryFacts]
    /// The earliest time at which an entry that is not in `heads` may be due; nil if there is none.
    var nextDue: WallTime?
    /// Entries whose time may have passed, in any position of their lanes.
    var expiring: [EntryFacts] = []
    /// The earliest expiry of an entry that is not in `expiring`.
    var nextExpiry: WallTime?
    /// The entries that this process is working on.
    var running: [Running] = []
    /// The account that is logged in; empty if there is none.
    var account = ""
    var now: WallTime
    var isPaused = false
    /// The time before which nothing is sent: see ``SendHold``.
    var heldUntil: WallTime?
    /// Whether one entry that has not failed may be sent before that time.
    var mayProbe = false
    /// The most entries that are sent at the same time.
    var parallel = 4
  }

  /// An entry that this process is working on.
  struct Running: Sendable, Equatable {
    var id: Int64
    var account: String
    var lane: String
  }

  /// The entries to send, in this order.
  var send: [Int64] = []
  /// The entries whose fate must be determined before they may be sent again.
  var reconcile: [Int64] = []
  /// The entries whose time has passed.
  var expire: [Int64] = []
  /// The time at which the outbox looks again; nil if only an event can change the decision.
  var wakeAt: WallTime?

  /// Decides what happens now. Only the process that holds the lease of the folder decides.
  init(_ input: Input) {
    let ids = Set(input.running.map(\.id))
    expire = input.expiring.filter { Self.isExpired($0, input.now) && !ids.contains($0.id) }.map(\.id)
    wakeAt = input.nextExpiry
    guard !input.isPaused else { return }
    var (heads, free) = (input.heads, input.parallel - input.running.count)
    if let until = input.heldUntil, until > input.now {
      look(at: until)
      guard input.mayProbe else { return }
      heads.removeAll { $0.failures > 0 }
      free = min(free, 1)
    }
    var busy = Set(input.running.map { Lane(account: ByteText($0.account), name: ByteText($0.lane)) })
    for head in heads {
      guard head.state == .queued, head.waits == 0, head.account.hasSameBytes(as: input.account),
        !ids.contains(head.id), !Self.isExpired(head, input.now)
      else { continue }
      guard head.notBefore <= input.now else {
        if head.notBefore < EntryFacts.held { look(at: head.notBefore) }
        continue
      }
      guard free > 0, busy.insert(Lane(account: ByteText(head.account), name: ByteText(head.lane))).inserted else {
        continue
      }
      free -= 1
      if head.isForgotten(at: input.now) { reconcile.append(head.id) } else { send.append(head.id) }
    }
    if let next = input.nextDue, free > 0, next > input.now { look(at: next) }
  }

  private struct Lane: Hashable {
    let account: ByteText
    let name: ByteText
  }

  private mutating func look(at moment: WallTime) { wakeAt = min(wakeAt ?? moment, moment) }

  private static func isExpired(_ entry: EntryFacts, _ now: WallTime) -> Bool {
    entry.state == .queued && entry.expires.map { $0 <= now } ?? false
  }
}

/// The pause of the whole outbox after an attempt that could not reach any server, or that lacked a login. Without it,
/// a device without a network would try all entries one after the other, again and again.
///
/// In each pause one entry that has not failed is sent as a probe, because the pause may be the fault of another server
/// or another lane. If the probe reaches a server, the pause ends.
struct SendHold: Sendable, Equatable {
  private(set) var failures = 0
  private(set) var until: WallTime?
  /// Whether a probe may be sent during the pause.
  private(set) var mayProbe = false

  /// Learns from the result of an attempt.
  mutating func learn(from verdict: SendVerdict, at now: WallTime, chance: Double, _ backOff: BackOff) {
    guard case .retry(let retry) = verdict, [.offline, .login].contains(retry.reason.code) else { return end() }
    // Several attempts that fail at the same time lengthen the pause only once.
    if let until, now < until { return }
    failures += 1
    mayProbe = true
    until = now.advanced(byMilliseconds: backOff.delay(after: failures, atLeast: nil, chance: chance))
  }

  /// Learns that an attempt begins. During a pause it is the probe, and the next one waits for the end of the pause.
  mutating func begin() { mayProbe = false }

  /// Ends the pause, because an attempt reached a server or an event such as a login happened.
  mutating func end() { self = SendHold() }
}
