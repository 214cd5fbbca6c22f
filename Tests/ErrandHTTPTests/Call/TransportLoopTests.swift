import ErrandSupport
import ErrandTesting
import Testing
import TestSupport

@testable import ErrandHTTP

struct TransportLoopTests {
  /// A loop whose thread is never started. It records the commands that it refuses.
  private final class FakeLoop: TransportLoop {
    typealias Command = Int

    struct Configuration: Equatable, Sendable {
      var number = 0
      var isValid = true
    }

    struct Invalid: Error {}

    static let threadName = "errand.fake"
    let configuration: Configuration
    let isUsable: Bool
    let isReplacementUsable: Bool
    let refused = Recorded<Int>()
    /// The results of the attempts to start the thread.
    let starts = Recorded<Bool>()
    let canStart = Locked(true)
    private let inbox = Locked(LoopInbox<Int>())

    init(_ configuration: Configuration = Configuration(), isUsable: Bool = true, isReplacementUsable: Bool = true) {
      self.configuration = configuration
      self.isUsable = isUsable
      self.isReplacementUsable = isReplacementUsable
    }

    static func makeLoop(_ configuration: Configuration) throws(Invalid) -> FakeLoop {
      guard configuration.isValid else { throw Invalid() }
      return FakeLoop(configuration)
    }

    func makeReplacement() -> FakeLoop { FakeLoop(configuration, isUsable: isReplacementUsable) }

    func withInbox<Result: Sendable>(_ body: (inout LoopInbox<Int>) -> Result) -> Result {
      inbox.withLock { body(&$0) }
    }

    func startThread() -> Bool {
      let isStarted = canStart.withLock { $0 }
      starts.append(isStarted)
      return isStarted
    }

    func wake() {}
    func run() {}
    func refuse(_ command: Int) { refused.append(command) }
    func run(_ job: UnownedJob, on executor: LoopThread<FakeLoop>) {}

    /// Takes the commands of the inbox, as the loop's thread does.
    func takeCommands() -> [Int] {
      withInbox { inbox in
        var commands: [Int] = []
        inbox.take(&commands)
        return commands
      }
    }
  }

  // MARK: - Commands

  @Test func `first command starts the thread`() {
    let loop = FakeLoop()
    loop.push(1)
    loop.push(2)
    #expect(loop.starts.all == [true])
    #expect(loop.takeCommands() == [1, 2])
    #expect(loop.refused.all.isEmpty)
  }

  @Test func `unusable loop refuses commands`() {
    let loop = FakeLoop(isUsable: false)
    loop.push(1)
    #expect(loop.refused.all == [1])
    #expect(loop.starts.all.isEmpty && loop.takeCommands().isEmpty)
  }

  @Test func `ended loop refuses commands`() {
    let loop = FakeLoop()
    loop.close()
    loop.push(1)
    #expect(loop.refused.all == [1])
    #expect(loop.starts.all.isEmpty && loop.takeCommands().isEmpty)
  }

  // MARK: - Without a thread

  @Test func `missing thread refuses commands`() {
    let loop = FakeLoop()
    loop.canStart.withLock { $0 = false }
    loop.push(1)
    #expect(loop.refused.all == [1])
    #expect(loop.takeCommands().isEmpty)
    loop.canStart.withLock { $0 = true }
    loop.push(2)
    #expect(loop.starts.all == [false, true])
    #expect(loop.refused.all == [1])
    #expect(loop.takeCommands() == [2])
  }

  @Test func `timers run without the thread`() async {
    let loop = FakeLoop()
    loop.canStart.withLock { $0 = false }
    let later = loop.schedule(at: MonotonicInstant.now.advanced(by: .seconds(3600))) {}
    await withCheckedContinuation { continuation in
      _ = loop.schedule(at: .now) { continuation.resume() }
    }
    // The thread is tried again for the timer that is left.
    #expect(await eventually { loop.starts.count == 3 })
    #expect(loop.starts.all == [false, false, false])
    loop.cancel(later)
    #expect(loop.withInbox { $0.loop.timers.next } == nil)
  }

  // MARK: - The current loop

  @Test func `usable loop stays current`() {
    let holder = LoopHolder(FakeLoop())
    let (current, usable) = (holder.thread, holder.usableThread)
    #expect(usable === current)
  }

  @Test func `unusable loop is replaced`() {
    let holder = LoopHolder(FakeLoop(isUsable: false))
    let old = holder.thread
    let usable = holder.usableThread
    let current = holder.thread
    #expect(usable != nil && usable === current)
    #expect(current !== old)
  }

  @Test func `unusable replacement is not used`() {
    let holder = LoopHolder(FakeLoop(isUsable: false, isReplacementUsable: false))
    let old = holder.thread
    let usable = holder.usableThread
    let current = holder.thread
    #expect(usable == nil)
    #expect(current === old)
  }

  @Test func `replacement does not undo an update`() throws {
    let holder = LoopHolder(FakeLoop(isUsable: false))
    let old = holder.thread
    try holder.update(FakeLoop.Configuration(number: 1))
    let updated = holder.thread
    let second = holder.secondThread(after: old)
    let current = holder.thread
    #expect(updated !== old && updated.loop.configuration.number == 1)
    #expect(second === updated)
    #expect(current === updated)
  }

  @Test func `invalid update keeps the loop`() {
    let holder = LoopHolder(FakeLoop())
    let old = holder.thread
    var isRefused = false
    do throws(FakeLoop.Invalid) {
      try holder.update(FakeLoop.Configuration(isValid: false))
    } catch {
      isRefused = true
    }
    let current = holder.thread
    #expect(isRefused)
    #expect(current === old)
  }

  @Test func `equal update keeps the loop`() throws {
    let holder = LoopHolder(FakeLoop())
    let old = holder.thread
    try holder.update(FakeLoop.Configuration())
    let kept = holder.thread
    try holder.reload()
    let reloaded = holder.thread
    #expect(kept === old)
    #expect(reloaded !== old, "the files are read again")
  }

  @Test func `replaced loop takes no commands`() throws {
    let holder = LoopHolder(FakeLoop())
    let old = holder.loop
    try holder.update(FakeLoop.Configuration(number: 1))
    old.push(1)
    #expect(old.refused.all == [1])
  }
}
