import ErrandCache
import Testing

@testable import ErrandOutbox

struct EntryMachineTests {
  private static let now = WallTime(milliseconds: 1_000_000)
  private static let reason = OutboxReason(.failure, "It failed.")
  private static let notSent = SendVerdict.Retry(
    reason: OutboxReason(.offline, "No network."), mayHaveBeenCarriedOut: false, counts: false)
  private static let unclear = SendVerdict.Retry(reason: reason, mayHaveBeenCarriedOut: true, counts: true)

  private static func entry(_ state: OutboxState, unknownSince: Int64? = nil) -> EntryFacts {
    var facts = EntryFacts(
      id: 7, type: "Rename", version: 1, account: "ada", lane: "note/7", key: "k", added: WallTime(milliseconds: 0),
      notBefore: WallTime(milliseconds: 0))
    facts.state = state
    facts.unknownSince = unknownSince.map { WallTime(milliseconds: $0) }
    if state == .sending { facts.began = WallTime(milliseconds: 900_000) }
    facts.window = 86_400_000
    return facts
  }

  private static func after(_ event: EntryEvent, _ facts: EntryFacts) -> EntryMachine? {
    var machine = EntryMachine(facts)
    return machine.apply(event, at: now) ? machine : nil
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let from: OutboxState
    let event: EntryEvent
    let to: OutboxState?
    var unknown: Int64?
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "attempt begins", from: .queued, event: .attempt, to: .sending),
    Case(name: "attempt of a running entry is ignored", from: .sending, event: .attempt, to: nil),
    Case(name: "attempt of a delivered entry is ignored", from: .delivered, event: .attempt, to: nil),
    Case(name: "success", from: .sending, event: .attempted(.delivered, chance: 0), to: .delivered),
    Case(name: "late failure is ignored", from: .queued, event: .attempted(.rejected(reason), chance: 0), to: nil),
    Case(name: "success after a resend", from: .queued, event: .attempted(.delivered, chance: 0), to: .delivered),
    Case(
      name: "success after a cancellation", from: .unknown, event: .attempted(.delivered, chance: 0), to: .delivered),
    Case(name: "rejection", from: .sending, event: .attempted(.rejected(reason), chance: 0), to: .rejected),
    Case(name: "unresolved conflict", from: .sending, event: .attempted(.conflict(reason), chance: 0), to: .rejected),
    Case(name: "parking", from: .sending, event: .attempted(.parked(reason), chance: 0), to: .parked),
    Case(name: "retry", from: .sending, event: .attempted(.retry(unclear), chance: 0), to: .queued),
    Case(
      name: "success after a rejection is ignored", from: .rejected, event: .attempted(.delivered, chance: 0), to: nil),
    Case(name: "end of the process", from: .sending, event: .interrupted, to: .queued),
    Case(name: "end of the process does not change a queued entry", from: .queued, event: .interrupted, to: nil),
    Case(name: "conflict resolved", from: .sending, event: .resolved(.sendChanged), to: .queued),
    Case(name: "their change kept", from: .sending, event: .resolved(.keepTheirs), to: .cancelled),
    Case(name: "dropped", from: .sending, event: .resolved(.drop), to: .cancelled),
    Case(name: "resolution of a queued entry is ignored", from: .queued, event: .resolved(.drop), to: nil),
    Case(
      name: "reconciled as carried out", from: .queued, event: .reconciled(.carriedOut()), to: .delivered, unknown: 1),
    Case(
      name: "reconciled as not carried out", from: .queued, event: .reconciled(.notCarriedOut), to: .queued, unknown: 1),
    Case(name: "not reconciled", from: .queued, event: .reconciled(.unknown), to: .unknown, unknown: 1),
    Case(name: "fate of a running entry is ignored", from: .sending, event: .reconciled(.unknown), to: nil),
    Case(name: "postponed", from: .queued, event: .postponed(reason, chance: 0), to: .queued),
    Case(name: "postponing a running entry is ignored", from: .sending, event: .postponed(reason, chance: 0), to: nil),
    Case(name: "expiry", from: .queued, event: .expire, to: .expired),
    Case(name: "expiry with unknown fate", from: .queued, event: .expire, to: .unknown, unknown: 1),
    Case(name: "expiry of a running entry is ignored", from: .sending, event: .expire, to: nil),
    Case(name: "cancellation before sending", from: .queued, event: .cancel, to: .cancelled),
    Case(name: "cancellation with unknown fate", from: .queued, event: .cancel, to: .unknown, unknown: 1),
    Case(name: "cancellation in flight", from: .sending, event: .cancel, to: .unknown),
    Case(name: "cancellation of a delivered entry is ignored", from: .delivered, event: .cancel, to: nil),
    Case(name: "replacement", from: .queued, event: .remove(reason), to: .cancelled),
    Case(name: "replacement of a running entry is ignored", from: .sending, event: .remove(reason), to: nil),
    Case(name: "replacement with unknown fate is ignored", from: .queued, event: .remove(reason), to: nil, unknown: 1),
    Case(name: "discarding a dead letter", from: .rejected, event: .discard, to: .cancelled),
    Case(name: "discarding a queued entry is ignored", from: .queued, event: .discard, to: nil),
    Case(name: "resending a dead letter", from: .parked, event: .resend, to: .queued),
    Case(name: "resending a delivered entry is ignored", from: .delivered, event: .resend, to: nil),
    Case(name: "resending a cancelled entry is ignored", from: .cancelled, event: .resend, to: nil),
    Case(name: "editing a queued entry", from: .queued, event: .edit, to: .queued),
    Case(name: "editing a dead letter", from: .expired, event: .edit, to: .queued),
    Case(name: "editing with unknown fate is ignored", from: .unknown, event: .edit, to: nil, unknown: 1),
    Case(name: "editing a running entry is ignored", from: .sending, event: .edit, to: nil),
    Case(name: "failed parent", from: .queued, event: .parentFailed(3), to: .rejected),
    Case(
      name: "failed parent with unknown fate is ignored", from: .queued, event: .parentFailed(3), to: nil, unknown: 1),
    Case(name: "unreadable request", from: .queued, event: .unreadable(reason, waits: false), to: .parked),
    Case(name: "unknown type", from: .queued, event: .unreadable(reason, waits: true), to: .queued),
  ]

  @Test(arguments: cases)
  func `event leads to the state`(one: Case) {
    #expect(Self.after(one.event, Self.entry(one.from, unknownSince: one.unknown))?.facts.state == one.to)
  }

  @Test func `fate is unknown since the first unclear attempt`() {
    let first = Self.after(.attempted(.retry(Self.unclear), chance: 0), Self.entry(.sending))
    #expect(first?.facts.unknownSince == WallTime(milliseconds: 900_000))
    let later = Self.after(.attempted(.retry(Self.unclear), chance: 0), Self.entry(.sending, unknownSince: 5))
    #expect(later?.facts.unknownSince == WallTime(milliseconds: 5))
    let known = Self.after(.attempted(.retry(Self.notSent), chance: 0), Self.entry(.sending))
    #expect(known?.facts.unknownSince == nil)
  }

  @Test(arguments: [false, true]) func `final verdict may leave the fate unknown`(isUnclear: Bool) {
    for verdict in [
      SendVerdict.rejected(Self.reason, mayHaveBeenCarriedOut: isUnclear),
      .parked(Self.reason, mayHaveBeenCarriedOut: isUnclear),
      .conflict(Self.reason, mayHaveBeenCarriedOut: isUnclear),
    ] {
      let facts = Self.after(.attempted(verdict, chance: 0), Self.entry(.sending))?.facts
      #expect(facts?.attempts == 1)
      #expect(facts?.unknownSince == (isUnclear ? WallTime(milliseconds: 900_000) : nil))
    }
  }

  @Test func `postponed entry waits and keeps its reason`() {
    var facts = Self.entry(.queued)
    facts.reason = Self.reason
    let kept = Self.after(.postponed(nil, chance: 0), facts)?.facts
    #expect(kept?.reason == Self.reason && kept?.failures == 1 && kept?.attempts == 0)
    #expect(kept.map { Self.now.milliseconds(to: $0.notBefore) } == 500)
    let other = OutboxReason(.offline, "No network.")
    #expect(Self.after(.postponed(other, chance: 0), facts)?.facts.reason == other)
  }

  @Test func `end of the process makes the fate unknown`() {
    #expect(Self.after(.interrupted, Self.entry(.sending))?.facts.unknownSince == WallTime(milliseconds: 900_000))
  }

  @Test func `interrupted attempts count and are delayed`() {
    var facts = Self.entry(.sending)
    facts.attempts = 3
    let queued = Self.after(.interrupted, facts)?.facts
    #expect(queued?.attempts == 4)
    #expect(queued.map { $0.notBefore > Self.now } == true)
    facts.attempts = facts.attemptLimit - 1
    #expect(Self.after(.interrupted, facts)?.facts.state == .unknown)
  }

  @Test func `attempts end at the limit`() {
    var facts = Self.entry(.sending)
    facts.attempts = facts.attemptLimit - 1
    let last = Self.after(.attempted(.retry(Self.unclear), chance: 0), facts)
    #expect(last?.facts.state == .unknown)
    #expect(last?.facts.reason?.code == .attempts)
    var clear = Self.unclear
    clear.mayHaveBeenCarriedOut = false
    #expect(Self.after(.attempted(.retry(clear), chance: 0), facts)?.facts.state == .rejected)
  }

  @Test func `offline attempts do not count`() {
    var facts = Self.entry(.sending)
    for _ in 0..<1_000 {
      guard let machine = Self.after(.attempted(.retry(Self.notSent), chance: 1), facts) else { break }
      facts = machine.facts
      facts.state = .sending
    }
    #expect(facts.attempts == 0)
    #expect(facts.failures == 1_000)
    #expect(Self.now.milliseconds(to: facts.notBefore) == 300_000)
  }

  @Test func `fourth conflict parks the entry`() {
    var facts = Self.entry(.sending)
    facts.conflicts = 2
    #expect(Self.after(.attempted(.conflict(Self.reason), chance: 0), facts)?.facts.state == .rejected)
    facts.conflicts = 3
    #expect(Self.after(.attempted(.conflict(Self.reason), chance: 0), facts)?.facts.state == .parked)
  }

  @Test func `key is renewed only for a new change`() {
    #expect(Self.after(.attempted(.retry(Self.unclear), chance: 0), Self.entry(.sending))?.needsNewKey == false)
    #expect(Self.after(.interrupted, Self.entry(.sending))?.needsNewKey == false)
    #expect(Self.after(.resolved(.sendChanged), Self.entry(.sending))?.needsNewKey == true)
    #expect(Self.after(.reconciled(.notCarriedOut), Self.entry(.queued, unknownSince: 1))?.needsNewKey == true)
    #expect(Self.after(.resend, Self.entry(.rejected))?.needsNewKey == true)
    #expect(Self.after(.resend, Self.entry(.expired))?.needsNewKey == false)
    #expect(Self.after(.edit, Self.entry(.expired))?.needsNewKey == true)
    #expect(Self.after(.resend, Self.entry(.unknown, unknownSince: 1))?.needsNewKey == false)
    #expect(Self.after(.resend, Self.entry(.unknown, unknownSince: -86_400_000))?.needsNewKey == true)
  }

  @Test func `edited entry is due at once`() {
    var facts = Self.entry(.queued)
    (facts.notBefore, facts.reason) = (EntryFacts.held, OutboxReason(.unknownType, "It is unknown."))
    let edited = Self.after(.edit, facts)?.facts
    #expect(edited?.notBefore == Self.now)
    #expect(edited?.reason == nil)
  }

  @Test func `each resend starts the same period`() {
    var facts = Self.entry(.rejected)
    facts.expires = WallTime(milliseconds: 5_000)
    // The last time is earlier, as after a reset of the clock.
    for moment in [1_000_000, 2_000_000, 500] as [Int64] {
      let end = WallTime(milliseconds: moment + 5_000)
      var machine = EntryMachine(facts)
      let isResent = machine.apply(.resend, at: WallTime(milliseconds: moment))
      #expect(isResent && machine.facts.expires == end)
      let isExpired = machine.apply(.expire, at: end)
      #expect(isExpired && machine.facts.state == .expired)
      facts = machine.facts
    }
  }

  @Test func `failed entry blocks its lane only if declared`() {
    var facts = Self.entry(.rejected)
    #expect(!facts.blocksLane)
    facts.stopsLane = true
    #expect(facts.blocksLane)
    facts.state = .delivered
    #expect(!facts.blocksLane)
  }

  @Test func `server forgets the key after its window`() {
    var facts = Self.entry(.queued, unknownSince: 0)
    #expect(!facts.isForgotten(at: WallTime(milliseconds: 86_099_999)))
    #expect(facts.isForgotten(at: WallTime(milliseconds: 86_100_000)))
    facts.window = nil
    #expect(!facts.isForgotten(at: WallTime(milliseconds: .max)))
    facts.window = 0
    #expect(facts.isForgotten(at: WallTime(milliseconds: 0)))
  }

  @Test(
    arguments: [
      (1, nil, 0.0, 500), (1, nil, 1, 1_000), (2, nil, 1, 2_000), (9, nil, 1, 256_000), (10, nil, 1, 300_000),
      (.max, nil, 1, 300_000), (1, 60_000, 0, 60_500), (1, .max, 0, 86_400_500), (1, -5, .nan, 500), (0, nil, 1, 1_000),
    ] as [(Int, Int64?, Double, Int64)])
  func `back-off doubles and has limits`(failures: Int, least: Int64?, chance: Double, delay: Int64) {
    let chance = chance.isNaN ? 0 : chance
    #expect(BackOff().delay(after: failures, atLeast: least, chance: chance) == delay)
  }
}
