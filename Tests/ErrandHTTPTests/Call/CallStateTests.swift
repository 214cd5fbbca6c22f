import ErrandTesting
import TestSupport
import Testing

@testable import ErrandHTTP

/// `CallState` against its specification: waits that a stop ends, waits that a stop only notifies, nested waits, the
/// deadline, races.
struct CallStateTests {
  typealias Reason = CallState.StopReason

  // MARK: - Waits that a stop ends

  @Test(arguments: [Reason.cancelled, .expired]) func `stop ends a wait`(reason: Reason) async {
    let state = CallState(timers: ManualClock())
    let wakeups = Recorded<Wakeup>()
    let error = await thrown {
      try await state.wait { wakeup in
        wakeups.append(wakeup)
        state.stop(reason)
      }
    }
    #expect(error == reason)
    #expect(wakeups.all.map { $0.resume() } == [false], "the grant goes to the next waiter")
    #expect(state.openWaits == 0)
  }

  @Test func `resume during registration returns`() async throws {
    let state = CallState(timers: ManualClock())
    try await state.wait { wakeup in
      #expect(wakeup.resume())
      #expect(!wakeup.resume())
    }
    #expect(state.openWaits == 0)
  }

  @Test func `first of resume and stop wins`() async throws {
    let state = CallState(timers: ManualClock())
    try await state.wait { wakeup in
      #expect(wakeup.resume())
      state.stop(.cancelled)
    }
    #expect(await thrown { try await state.wait { _ in } } == .cancelled)
  }

  @Test func `stopped call registers no wait`() async {
    let state = CallState(timers: ManualClock())
    state.stop(.cancelled)
    let registered = Recorded<Int>()
    #expect(await thrown { try await state.wait { _ in registered.append(1) } } != nil)
    let error = await thrown {
      try await state.wait(asking: { _ in registered.append(2) }) { _ in registered.append(3) }
    }
    #expect(error == .cancelled)
    #expect(registered.all.isEmpty)
  }

  // MARK: - Removing the deadline

  @Test(arguments: [false, true]) func `removed deadline ends nothing`(isWaiting: Bool) async throws {
    let clock = ManualClock()
    let state = CallState(deadline: clock.now.advanced(by: .seconds(5)), timers: clock)
    let removeDeadline = { if state.deadline != nil { state.removeDeadline() } }
    if !isWaiting { removeDeadline() }
    try await state.wait { wakeup in
      if isWaiting { removeDeadline() }
      #expect(clock.pending == 0)
      clock.advance(by: .seconds(10))
      wakeup.resume()
    }
    #expect(state.deadline == nil && state.timeLeft == nil && !state.isPastDeadline && state.isRunning)
  }

  @Test func `expired deadline cannot be removed`() async {
    let clock = ManualClock()
    let state = CallState(deadline: clock.now.advanced(by: .seconds(5)), timers: clock)
    let error = await thrown {
      try await state.wait { _ in
        clock.advance(by: .seconds(5))
        state.removeDeadline()
      }
    }
    #expect(error == .expired)
  }

  // MARK: - Waits that a stop only notifies

  @Test func `stop handler may end the wait`() async {
    let state = CallState(timers: ManualClock())
    let order = Recorded<String>()
    let wakeups = Recorded<Wakeup>()
    let error = await thrown {
      try await state.wait(asking: { reason in
        order.append("ask \(reason)")
        wakeups.all.first?.resume()
      }) { wakeup in
        wakeups.append(wakeup)
        state.stop(.cancelled)
        order.append("registered")
      }
    }
    #expect(error == .cancelled)
    #expect(order.all == ["registered", "ask cancelled"], "an abort must not overtake the submission")
  }

  @Test func `notified wait continues until resumed`() async {
    let state = CallState(timers: ManualClock())
    let wakeups = Recorded<Wakeup>()
    let asked = Recorded<Reason>()
    let task = Task {
      await thrown { try await state.wait(asking: { asked.append($0) }) { wakeups.append($0) } }
    }
    #expect(await eventually { wakeups.count == 1 })
    state.stop(.expired)
    state.stop(.cancelled)
    #expect(await eventually { asked.count == 1 })
    #expect(state.openWaits == 1)
    #expect(wakeups.all.map { $0.resume() } == [true])
    #expect(await task.value == .expired)
    #expect(asked.all == [.expired])
    #expect(state.openWaits == 0)
  }

  @Test func `operation with a stop handler ends itself`() async throws {
    let state = CallState(timers: ManualClock())
    let asked = Recorded<Reason>()
    let value = await state.whileAsking({ asked.append($0) }) {
      state.stop(.cancelled)
      state.stop(.expired)
      return 7
    }
    #expect(value == 7)
    #expect(asked.all == [.cancelled])
    #expect(await thrown { try state.check() } == .cancelled)
  }

  @Test func `stopped call notifies operation immediately`() async {
    let state = CallState(timers: ManualClock())
    state.stop(.expired)
    let asked = Recorded<Reason>()
    let seen = await state.whileAsking({ asked.append($0) }) { asked.all }
    #expect(seen == [.expired])
  }

  @Test func `late cancellation notifies a hook`() async {
    let state = CallState(timers: ManualClock())
    state.settle()
    let asked = Recorded<Reason>()
    await state.whileAsking({ asked.append($0) }) {
      #expect(!state.stop(.expired))
      #expect(state.stop(.cancelled))
    }
    #expect(asked.all == [.cancelled])
    #expect(state.claim() == .cancelled)
  }

  // MARK: - Nested waits and children

  @Test func `stop notifies all nested waits`() async {
    let state = CallState(timers: ManualClock())
    let asked = Recorded<Int>()
    let error = await thrown {
      try await state.whileAsking({ _ in asked.append(1) }) {
        try await state.whileAsking({ _ in asked.append(2) }) {
          try await state.wait { _ in state.stop(.cancelled) }
        }
      }
    }
    #expect(error == .cancelled)
    #expect(asked.all.sorted() == [1, 2])
    #expect(state.openWaits == 0)
  }

  @Test func `concurrent waits all end`() async {
    let state = CallState(timers: ManualClock())
    let errors = await withTaskGroup(of: Reason?.self) { group in
      let waiting = Recorded<Int>()
      for index in 0..<20 {
        group.addTask { await thrown { try await state.wait { _ in waiting.append(index) } } }
      }
      #expect(await eventually { waiting.count == 20 })
      state.stop(.cancelled)
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(errors == Array(repeating: Reason.cancelled, count: 20))
    #expect(state.openWaits == 0)
  }

  // MARK: - The deadline

  @Test func `first wait sets the timer`() async throws {
    let clock = ManualClock()
    let state = CallState(deadline: clock.now.advanced(by: .seconds(5)), timers: clock)
    #expect(clock.pending == 0)
    try await state.wait { wakeup in
      #expect(clock.pending == 1)
      wakeup.resume()
    }
    try await state.wait { $0.resume() }
    #expect(clock.pending == 1)
    state.settle()
    #expect(clock.pending == 0)
    try await state.wait { $0.resume() }
    #expect(clock.pending == 0, "the deadline ends with the work")
  }

  @Test func `call without waits sets no timer`() {
    let clock = ManualClock()
    let state = CallState(deadline: clock.now.advanced(by: .seconds(5)), timers: clock)
    state.settle()
    #expect(state.claim() == nil)
    #expect(clock.pending == 0)
  }

  @Test func `cancel removes the timer`() async {
    let clock = ManualClock()
    let state = CallState(deadline: clock.now.advanced(by: .seconds(5)), timers: clock)
    #expect(await thrown { try await state.wait { _ in state.stop(.cancelled) } } != nil)
    #expect(clock.pending == 0)
  }

  @Test func `deadline ends a wait`() async {
    let clock = ManualClock()
    let state = CallState(deadline: clock.now.advanced(by: .seconds(5)), timers: clock)
    let error = await thrown {
      try await state.wait { _ in
        clock.advance(by: .milliseconds(4_999))
        #expect(!state.isStopped)
        clock.advance(by: .milliseconds(1))
      }
    }
    #expect(error == .expired)
    #expect(clock.pending == 0)
    #expect(state.timeLeft == .zero)
  }

  @Test func `past deadline ends a wait immediately`() async {
    let clock = ManualClock()
    let state = CallState(deadline: clock.now.advanced(by: .seconds(-1)), timers: clock)
    #expect(await thrown { try await state.wait { _ in } } == .expired)
    #expect(clock.pending == 0)
  }

  @Test func `timer does not retain its call`() async {
    let clock = ManualClock()
    let leaks = LeakCheck()
    await {
      let state = CallState(deadline: clock.now.advanced(by: .seconds(5)), timers: clock)
      leaks.watch(state, "state")
      await state.whileAsking({ _ in }) {}
    }()
    #expect(await leaks.survivors().isEmpty, "a timer references its call weakly")
  }

  // MARK: - Sleeping

  @Test func `sleep ends when the clock advances`() async throws {
    let clock = ManualClock()
    let state = CallState(timers: clock)
    let task = Task { await thrown { try await state.sleep(until: clock.now.advanced(by: .seconds(2))) } }
    #expect(await clock.waitForTimers(1))
    clock.advance(by: .seconds(2))
    #expect(await task.value == nil)
    #expect(clock.pending == 0)
  }

  @Test(arguments: [Reason.cancelled, .expired]) func `stopped sleep leaves no timer`(reason: Reason) async {
    let clock = ManualClock()
    let state = CallState(timers: clock)
    let task = Task { await thrown { try await state.sleep(until: clock.now.advanced(by: .seconds(2))) } }
    #expect(await clock.waitForTimers(1))
    state.stop(reason)
    #expect(await task.value == reason)
    #expect(clock.pending == 0)
  }

  @Test func `deadline ends a longer sleep`() async {
    let clock = ManualClock()
    let state = CallState(deadline: clock.now.advanced(by: .seconds(1)), timers: clock)
    let task = Task { await thrown { try await state.sleep(until: clock.now.advanced(by: .seconds(9))) } }
    #expect(await clock.waitForTimers(2))
    clock.advance(by: .seconds(1))
    #expect(await task.value == .expired)
    #expect(clock.pending == 0)
  }

  @Test func `sleep until the past returns`() async throws {
    let clock = ManualClock()
    try await CallState(timers: clock).sleep(until: clock.now)
    #expect(clock.pending == 0)
  }

  // MARK: - Races

  @Test func `resume races stop`() async {
    for _ in 0..<rounds * 20 {
      let state = CallState(timers: ManualClock())
      let wakeups = Recorded<Wakeup>()
      async let waited = thrown { try await state.wait { wakeups.append($0) } }
      async let granted = resumeFirst(of: wakeups)
      async let stopped = state.stop(.cancelled)
      let (error, isGranted, _) = await (waited, granted, stopped)
      // An accepted grant must not be lost; a refused grant goes to the next waiter.
      if isGranted == true { #expect(error == nil) }
      if isGranted == false { #expect(error != nil) }
      #expect(state.openWaits == 0)
    }
  }

  @Test func `claim races stop`() async {
    for _ in 0..<rounds * 20 {
      let state = CallState(timers: ManualClock())
      state.settle()
      async let changed = state.stop(.cancelled)
      async let claimed = state.claim()
      let (hasChanged, reason) = await (changed, claimed)
      #expect(hasChanged == (reason == .cancelled))
    }
  }

  @Test func `deadline races settle`() async {
    for _ in 0..<rounds * 20 {
      let clock = ManualClock()
      let state = CallState(deadline: clock.now.advanced(by: .seconds(1)), timers: clock)
      async let turned: Void = clock.advance(by: .seconds(1))
      async let waited = thrown { try await state.wait { $0.resume() } }
      _ = await (turned, waited)
      state.settle()
      #expect(clock.pending == 0)
    }
  }

  @concurrent private func resumeFirst(of wakeups: Recorded<Wakeup>) async -> Bool? {
    for _ in 0..<1_000 {
      if let wakeup = wakeups.all.first { return wakeup.resume() }
      await Task.yield()
    }
    return nil
  }

  private func thrown(_ body: () async throws -> Void) async -> Reason? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? CallState.Stopped)?.reason
    }
  }
}
