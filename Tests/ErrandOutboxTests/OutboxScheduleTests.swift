import ErrandCache
import Testing

@testable import ErrandOutbox

struct OutboxScheduleTests {
  private var now: WallTime { WallTime(milliseconds: 1_000_000) }

  private func entry(_ id: Int64, _ lane: String, account: String = "", due: Int64 = 0) -> EntryFacts {
    EntryFacts(
      id: id, type: "Rename", version: 1, account: account, lane: lane, key: "k", added: WallTime(milliseconds: 0),
      notBefore: WallTime(milliseconds: due))
  }

  private func decide(
    _ heads: [EntryFacts], _ change: (inout OutboxSchedule.Input) -> Void = { _ in }
  ) -> OutboxSchedule {
    var input = OutboxSchedule.Input(heads: heads, now: now)
    change(&input)
    return OutboxSchedule(input)
  }

  @Test func `first entry of each lane is sent`() {
    #expect(decide([entry(1, "a"), entry(2, "b"), entry(3, "c")]).send == [1, 2, 3])
  }

  @Test func `second entry of a lane waits`() {
    #expect(decide([entry(1, "a"), entry(2, "a")]).send == [1])
    let running = [OutboxSchedule.Running(id: 1, account: "", lane: "a")]
    #expect(decide([entry(2, "a"), entry(3, "b")]) { $0.running = running }.send == [3])
  }

  @Test func `running entry is not sent again`() {
    let running = [OutboxSchedule.Running(id: 1, account: "", lane: "other")]
    #expect(decide([entry(1, "a")]) { $0.running = running } == decide([]))
  }

  @Test func `entry of another account is not sent`() {
    let heads = [entry(1, "a", account: "ada"), entry(2, "b", account: "bo"), entry(3, "c")]
    #expect(decide(heads) { $0.account = "ada" }.send == [1])
    #expect(decide(heads).send == [3])
  }

  @Test func `accounts are compared by bytes`() {
    let heads = [entry(1, "a", account: "e\u{301}")]
    #expect(decide(heads) { $0.account = "\u{e9}" }.send.isEmpty)
    #expect(decide(heads) { $0.account = "e\u{301}" }.send == [1])
  }

  @Test func `lanes of two accounts are different`() {
    let running = [OutboxSchedule.Running(id: 9, account: "bo", lane: "a")]
    let decision = decide([entry(1, "a", account: "ada")]) { ($0.account, $0.running) = ("ada", running) }
    #expect(decision.send == [1])
  }

  @Test func `number of concurrent entries is limited`() {
    let heads = (1...6).map { entry($0, "lane \($0)") }
    #expect(decide(heads) { $0.parallel = 2 }.send == [1, 2])
    let running = [OutboxSchedule.Running(id: 9, account: "", lane: "x")]
    #expect(decide(heads) { ($0.parallel, $0.running) = (2, running) }.send == [1])
  }

  @Test func `paused outbox sends nothing but expires`() {
    var old = entry(1, "a")
    old.expires = WallTime(milliseconds: 5)
    let decision = decide([entry(2, "b")]) { ($0.isPaused, $0.expiring) = (true, [old]) }
    #expect(decision.send.isEmpty)
    #expect(decision.expire == [1])
  }

  @Test func `later entry determines the next look`() {
    let decision = decide([entry(1, "a", due: 1_005_000), entry(2, "b", due: 1_003_000)])
    #expect(decision.send.isEmpty)
    #expect(decision.wakeAt == WallTime(milliseconds: 1_003_000))
  }

  @Test func `stalled lane does not stall others`() {
    #expect(decide([entry(1, "a", due: 2_000_000), entry(2, "b")]).send == [2])
  }

  @Test func `held entry causes no look`() {
    #expect(decide([entry(1, "a", due: .max)]) == decide([]))
  }

  @Test func `pause of the outbox delays all entries`() {
    let decision = decide([entry(1, "a")]) { $0.heldUntil = WallTime(milliseconds: 1_000_500) }
    #expect(decision.send.isEmpty)
    #expect(decision.wakeAt == WallTime(milliseconds: 1_000_500))
    #expect(decide([entry(1, "a")]) { $0.heldUntil = now }.send == [1])
  }

  @Test func `one entry that has not failed is a probe`() {
    var failed = entry(1, "a")
    failed.failures = 1
    let until = WallTime(milliseconds: 1_000_500)
    let heads = [failed, entry(2, "b"), entry(3, "c")]
    let probe = decide(heads) { ($0.heldUntil, $0.mayProbe) = (until, true) }
    #expect(probe.send == [2])
    #expect(probe.wakeAt == until)
    #expect(decide(heads) { ($0.heldUntil, $0.mayProbe) = (now, true) }.send == [1, 2, 3])
    let running = [OutboxSchedule.Running(id: 9, account: "", lane: "x")]
    let full = decide(heads) { ($0.heldUntil, $0.mayProbe, $0.running, $0.parallel) = (until, true, running, 1) }
    #expect(full.send.isEmpty)
  }

  @Test func `expired entry is not sent`() {
    var old = entry(1, "a")
    old.expires = now
    let decision = decide([old]) { $0.expiring = [old] }
    #expect(decision.send.isEmpty)
    #expect(decision.expire == [1])
  }

  @Test func `only a queued entry whose time has passed expires`() {
    var entry = entry(1, "a")
    entry.expires = now
    let running = [OutboxSchedule.Running(id: 1, account: "", lane: "a")]
    #expect(decide([]) { ($0.expiring, $0.running) = ([entry], running) }.expire.isEmpty)
    entry.expires = WallTime(milliseconds: 1_000_001)
    #expect(decide([]) { $0.expiring = [entry] }.expire.isEmpty)
    (entry.expires, entry.state) = (now, .parked)
    #expect(decide([]) { $0.expiring = [entry] }.expire.isEmpty)
  }

  @Test(arguments: [OutboxState.sending, .rejected, .parked, .unknown])
  func `entry that is not queued is not sent`(state: OutboxState) {
    var entry = entry(1, "a")
    entry.state = state
    #expect(decide([entry]) == decide([]))
  }

  @Test func `entry with a forgotten key is not sent blindly`() {
    var old = entry(1, "a")
    old.unknownSince = WallTime(milliseconds: 0)
    old.window = 500_000
    #expect(decide([old]).reconcile == [1])
    #expect(decide([old]).send.isEmpty)
    old.window = 2_000_000
    #expect(decide([old]).send == [1])
  }

  @Test func `entry that waits for a parent is not sent`() {
    var child = entry(1, "a")
    child.waits = 1
    #expect(decide([child]).send.isEmpty)
  }

  @Test func `entries beyond the list determine the next look`() {
    let later = WallTime(milliseconds: 2_000_000)
    #expect(decide([]) { $0.nextDue = later }.wakeAt == later)
    #expect(decide([]) { $0.nextDue = now }.wakeAt == nil)
    let running = [OutboxSchedule.Running(id: 9, account: "", lane: "x")]
    #expect(decide([]) { ($0.nextDue, $0.running, $0.parallel) = (later, running, 1) }.wakeAt == nil)
    #expect(decide([]) { $0.nextExpiry = WallTime(milliseconds: 9) }.wakeAt == WallTime(milliseconds: 9))
  }
}

struct SendHoldTests {
  private var now: WallTime { WallTime(milliseconds: 0) }
  private func retry(_ code: OutboxReason.Code) -> SendVerdict {
    .retry(.init(reason: OutboxReason(code, ""), mayHaveBeenCarriedOut: false, counts: false))
  }

  @Test func `offline failures pause the outbox for longer and longer`() {
    var hold = SendHold()
    hold.learn(from: retry(.offline), at: now, chance: 1, BackOff())
    #expect(hold.until == WallTime(milliseconds: 1_000))
    hold.learn(from: retry(.offline), at: now, chance: 1, BackOff())
    #expect(hold.until == WallTime(milliseconds: 1_000))
    hold.learn(from: retry(.login), at: WallTime(milliseconds: 1_000), chance: 1, BackOff())
    #expect(hold.until == WallTime(milliseconds: 3_000))
  }

  @Test func `each pause allows one probe`() {
    var hold = SendHold()
    #expect(!hold.mayProbe)
    hold.learn(from: retry(.offline), at: now, chance: 1, BackOff())
    #expect(hold.mayProbe)
    hold.begin()
    hold.learn(from: retry(.offline), at: now, chance: 1, BackOff())
    #expect(!hold.mayProbe)
    hold.learn(from: retry(.login), at: WallTime(milliseconds: 1_000), chance: 1, BackOff())
    #expect(hold.mayProbe)
  }

  @Test func `response ends the pause`() {
    var hold = SendHold()
    hold.learn(from: retry(.offline), at: now, chance: 1, BackOff())
    hold.learn(from: retry(.status), at: now, chance: 1, BackOff())
    #expect(hold == SendHold())
  }
}
