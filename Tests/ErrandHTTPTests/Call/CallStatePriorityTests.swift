@testable import ErrandHTTP
import ErrandTesting
import Testing

/// The priority of a call while it runs.
struct CallStatePriorityTests {
  private func state(_ priority: CallPriority = .low) -> CallState {
    CallState(deadline: nil, timers: ManualClock(), priority: priority)
  }

  @Test(arguments: CallPriority.allCases) func `priority is the given value`(priority: CallPriority) {
    #expect(state(priority).priority == priority)
    #expect(CallState(timers: ManualClock()).priority == .normal)
  }

  @Test func `listener receives each change once`() {
    let state = state()
    let heard = Recorded<CallPriority>()
    state.whenPriorityChanges { heard.append($0) }
    for priority in [CallPriority.low, .high, .high, .normal] { state.change(priority: priority) }
    #expect(heard.all == [.high, .normal], "setting the same priority changes nothing")
    state.whenPriorityChanges(nil)
    state.change(priority: .low)
    #expect(heard.count == 2)
    #expect(state.priority == .low)
  }

  @Test func `listener may read and change priority`() {
    let state = state()
    let heard = Recorded<CallPriority>()
    state.whenPriorityChanges { [unowned state] priority in
      heard.append(state.priority)
      if priority == .normal { state.change(priority: .high) }
    }
    state.change(priority: .normal)
    #expect(heard.all == [.normal, .high], "the listener is called outside the lock")
  }

  @Test func `child call follows the priority`() {
    let state = state()
    let follower = CallState(following: state, deadline: nil)
    let inner = CallState(following: follower, deadline: nil)
    let heard = Recorded<CallPriority>()
    inner.whenPriorityChanges { heard.append($0) }
    state.change(priority: .high)
    #expect(inner.priority == .high)
    inner.change(priority: .normal)
    #expect(state.priority == .normal)
    #expect(heard.all == [.high, .normal])
    for state in [inner, follower] { state.settle() }
  }

  @Test func `settled child call is released`() async {
    let state = state()
    let heard = Recorded<CallPriority>()
    let leaks = LeakCheck()
    do {
      let follower = CallState(following: state, deadline: nil)
      follower.whenPriorityChanges { heard.append($0) }
      leaks.watch(follower, "follower")
      follower.settle()
    }
    state.change(priority: .high)
    #expect(heard.all.isEmpty)
    #expect(await leaks.survivors().isEmpty)
  }
}
