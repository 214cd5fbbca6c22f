import ErrandCore
import Foundation
import Testing

@testable import ErrandCache

/// The decisions of a store's thread about waiting, with injected times.
struct StoreWaitsTests {
  private let start = MonotonicInstant.now

  private func after(_ duration: Duration) -> MonotonicInstant { start.advanced(by: duration) }

  // MARK: - An index that cannot be used

  @Test func `failures name their causes`() {
    // A failed write of SQLite (SQLITE_IOERR_WRITE) and a file that cannot be opened (SQLITE_CANTOPEN).
    let causes = [
      SQLiteFailure.noRoom, SQLiteFailure(code: 778, systemCode: EDQUOT), SQLiteFailure(code: 14, systemCode: EACCES),
    ].map { $0.errorNumber(in: NSTemporaryDirectory()) }
    #expect(causes == [ENOSPC, EDQUOT, EACCES])
    #expect(SQLiteFailure.busy.errorNumber(in: NSTemporaryDirectory()) == nil)
    #expect(SQLiteFailure.busy.cause(in: NSTemporaryDirectory()) == "database is locked")
  }

  @Test(arguments: [(1, 100), (2, 200), (3, 400), (8, 12_800), (12, 12_800)])
  func `pauses double up to a limit`(failures: Int, milliseconds: Int) {
    var outage = IndexOutage()
    for _ in 0..<failures { outage.begin(.noFolder, at: start) }
    #expect(outage.failure(at: after(.milliseconds(milliseconds - 1))) != nil)
    #expect(outage.failure(at: after(.milliseconds(milliseconds))) == nil)
  }

  @Test func `an outage repeats its reason`() {
    var outage = IndexOutage()
    #expect(outage.failure(at: start) == nil)
    outage.begin(.otherSalt, at: start)
    #expect(outage.failure(at: start)?.code == SQLiteFailure.otherSalt.code)
  }

  @Test func `success resets the pauses`() {
    var outage = IndexOutage()
    for _ in 0..<5 { outage.begin(.noFolder, at: start) }
    outage.end()
    outage.begin(.noFolder, at: start)
    #expect(outage.failure(at: after(.milliseconds(100))) == nil)
  }

  // MARK: - A locked index

  @Test(arguments: [
    (LockPatience.untilRead, false, false, false), (.untilRead, true, false, true), (.untilRead, false, true, false),
    (.untilReadOrPurge, false, false, false), (.untilReadOrPurge, true, false, true),
    (.untilReadOrPurge, false, true, true), (.always, true, true, false), (.never, false, false, true),
  ])
  func `pending work ends a wait`(patience: LockPatience, hasReads: Bool, hasPurge: Bool, isOver: Bool) {
    #expect(patience.isOver(hasReads: hasReads, hasUnjournaledPurge: hasPurge) == isOver)
  }

  // MARK: - Delayed writes

  @Test func `a delayed write is tried again`() {
    var delay = WriteDelay()
    delay.begin(at: start)
    #expect(delay.retry == nil)
    #expect(delay.delay(at: after(.seconds(1)), isClosing: false) == true)
    #expect(delay.retry == after(.milliseconds(1_020)))
    delay.begin(at: after(.milliseconds(1_020)))
    #expect(delay.retry == nil)
  }

  @Test(arguments: [(false, 30), (true, 5)])
  func `a long delay gives up`(isClosing: Bool, seconds: Int) {
    var delay = WriteDelay()
    delay.begin(at: start)
    #expect(delay.delay(at: start, isClosing: isClosing) == true)
    #expect(delay.delay(at: after(.seconds(seconds)), isClosing: isClosing) == true)
    #expect(delay.delay(at: after(.seconds(seconds) + .nanoseconds(1)), isClosing: isClosing) == false)
  }

  @Test func `the next batch has its own time`() {
    var delay = WriteDelay()
    delay.begin(at: start)
    #expect(delay.delay(at: start, isClosing: false) == true)
    delay.end()
    #expect(delay.retry == nil)
    delay.begin(at: after(.seconds(60)))
    #expect(delay.delay(at: after(.seconds(60)), isClosing: false) == true)
  }

  @Test func `a second is long`() {
    var delay = WriteDelay()
    #expect(!delay.isLong(at: after(.seconds(9))))
    delay.begin(at: start)
    #expect(!delay.isLong(at: after(.seconds(1))))
    #expect(delay.isLong(at: after(.seconds(1) + .nanoseconds(1))))
  }

  @Test func `earlier attempts count as delay`() {
    var delay = WriteDelay()
    delay.begin(at: start)
    #expect(delay.delay(at: start, isClosing: false) == true)
    delay.begin(at: after(.seconds(2)))
    #expect(delay.isLong(at: after(.seconds(2))))
  }

  @Test func `a full log delays two seconds`() {
    var delay = WriteDelay()
    delay.begin(at: start)
    #expect(delay.waitsForLog(hasSpace: false, at: start) == true)
    #expect(delay.delay(at: start, isClosing: false) == true)
    #expect(delay.waitsForLog(hasSpace: false, at: after(.seconds(2))) == true)
    #expect(delay.waitsForLog(hasSpace: false, at: after(.seconds(2) + .nanoseconds(1))) == false)
  }

  @Test func `a stuck log delays no batch`() {
    var delay = WriteDelay()
    #expect(delay.delay(at: start, isClosing: false) == true)
    #expect(delay.waitsForLog(hasSpace: false, at: after(.seconds(3))) == false)
    delay.end()
    #expect(delay.waitsForLog(hasSpace: false, at: after(.seconds(4))) == false)
    #expect(delay.waitsForLog(hasSpace: true, at: after(.seconds(4))) == false)
    #expect(delay.waitsForLog(hasSpace: false, at: after(.seconds(4))) == true)
  }
}
