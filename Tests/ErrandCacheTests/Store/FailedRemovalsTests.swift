import ErrandCore
import Testing

@testable import ErrandCache

/// The state of removals that failed, without a disk.
struct FailedRemovalsTests {
  /// An event on the thread of a store.
  enum Step: Sendable {
    /// A removal by tag failed.
    case fail(String)
    /// A newer version of an entry could not be written.
    case replace
    /// The index was opened. The journal files of other processes contain a removal, or nothing.
    case open(others: Bool)
    /// The disk accepted or rejected a journal file with this number of removals.
    case write(count: Int)
    case reject
    case settle
  }

  private static let other = CacheSelection.tag("of another process")
  private static let replaced = CacheSelection.host("replaced")
  private let start = MonotonicInstant(nanoseconds: 0)

  private static func file(_ name: String) -> RemovalJournal.JournalFile {
    RemovalJournal.JournalFile(name: name, lock: FileLock(-1))
  }

  /// The state after some steps at the time `start`. Each journal file has the number of its step as its name.
  private func failed(after steps: [Step]) -> FailedRemovals {
    var failed = FailedRemovals()
    for (number, step) in steps.enumerated() {
      switch step {
      case .fail(let tag): failed.add([.tag(tag)], replaced: [])
      case .replace: failed.add([], replaced: [Self.replaced])
      case .open(let others): _ = failed.removals(with: others ? [Self.other] : [])
      case .write(let count): _ = failed.recorded(in: Self.file("\(number)"), count: count, at: start)
      case .reject: failed.rejected(at: start)
      case .settle: failed.settle()
      }
    }
    return failed
  }

  struct Row: Sendable {
    let steps: [Step]
    let state: FailedRemovals.State
    /// The state that callers see.
    let told: RemovalState

    init(_ steps: [Step], _ state: FailedRemovals.State, _ told: RemovalState) {
      (self.steps, self.state, self.told) = (steps, state, told)
    }
  }

  private static let rows = [
    Row([], .none, .done),
    Row([.replace], .none, .done),
    Row([.write(count: 1)], .none, .done),
    Row([.reject], .none, .done),
    Row([.fail("a")], .unrecorded([.tag("a")]), .pending),
    Row([.fail("a"), .reject], .unrecorded([.tag("a")]), .pending),
    Row([.fail("a"), .write(count: 1)], .recorded([.tag("a")]), .noted),
    Row([.fail("a"), .write(count: 1), .write(count: 2)], .recorded([.tag("a")]), .noted),
    Row([.fail("a"), .write(count: 1), .reject], .unrecorded([.tag("a")]), .pending),
    Row([.fail("a"), .write(count: 1), .fail("b")], .unrecorded([.tag("a"), .tag("b")]), .pending),
    Row([.fail("a"), .write(count: 1), .replace], .recorded([.tag("a")]), .noted),
    Row([.fail("a"), .settle], .none, .done),
    Row([.fail("a"), .write(count: 1), .settle], .none, .done),
    Row([.open(others: false)], .none, .done),
    Row([.open(others: true)], .ofOthers, .done),
    Row([.open(others: true), .write(count: 1)], .ofOthers, .done),
    Row([.open(others: true), .reject], .ofOthers, .done),
    Row([.open(others: true), .open(others: false)], .none, .done),
    Row([.open(others: true), .settle], .none, .done),
    Row([.open(others: true), .fail("a")], .unrecorded([.tag("a")]), .pending),
    Row([.fail("a"), .open(others: true)], .unrecorded([.tag("a")]), .pending),
    Row([.fail("a"), .write(count: 1), .open(others: false)], .recorded([.tag("a")]), .noted),
  ]

  @Test(arguments: rows) func `each event changes the state`(_ row: Row) {
    let failed = failed(after: row.steps)
    #expect(failed.state == row.state && failed.removalState == row.told)
  }

  @Test(arguments: [
    ([Step.fail("a")], false, [CacheSelection.tag("a")]), ([.fail("a"), .write(count: 1)], true, [.tag("a"), other]),
    ([], true, [other]), ([.open(others: true)], false, []), ([.fail("a"), .settle], false, []),
  ])
  func `opening applies all removals`(_ steps: [Step], _ others: Bool, _ expected: [CacheSelection]) {
    var failed = failed(after: steps)
    #expect(failed.removals(with: others ? [Self.other] : []) == expected)
  }

  @Test func `too many removals remove everything`() {
    var failed = FailedRemovals()
    failed.add(Array(repeating: .tag("a"), count: RemovalJournal.mostRemovals), replaced: [])
    #expect(failed.selections.count == RemovalJournal.mostRemovals)
    failed.add([.tag("b")], replaced: [])
    #expect(failed.selections == [.all])
  }

  @Test func `last replaced entries are kept`() {
    var failed = FailedRemovals()
    failed.add([], replaced: (0..<256).map { .tag("\($0)") })
    failed.add([], replaced: [.tag("256")])
    #expect(failed.replaced == (1...256).map { .tag("\($0)") })
    failed.settle()
    #expect(failed.replaced.count == 256, "removed in a later transaction")
    failed.settleReplaced()
    #expect(failed.replaced.isEmpty)
  }

  // MARK: - The journal file

  @Test(arguments: [
    ([Step](), 0), ([.fail("a")], 0), ([.write(count: 1_024)], 0), ([.write(count: 1_025)], 1_000), ([.reject], 1_000),
    ([.reject, .write(count: 1)], 0), ([.write(count: 1), .reject], 1_000), ([.reject, .settle], 1_000),
  ])
  func `rejected and large files delay the next`(_ steps: [Step], _ milliseconds: Int) {
    let failed = failed(after: steps)
    #expect(failed.mayWriteFile(at: start) == (milliseconds == 0))
    #expect(failed.mayWriteFile(at: start.advanced(by: .milliseconds(999))) == (milliseconds == 0))
    #expect(failed.mayWriteFile(at: start.advanced(by: .milliseconds(milliseconds))))
  }

  @Test func `a new file replaces the last`() {
    var failed = failed(after: [.fail("a")])
    #expect(failed.recorded(in: Self.file("first"), count: 1, at: start) == nil)
    failed.rejected(at: start)
    #expect(failed.file?.name == "first")
    #expect(failed.recorded(in: Self.file("second"), count: 1, at: start)?.name == "first")
    #expect(failed.file?.name == "second")
  }

  @Test(arguments: [
    ([Step](), false, String?.none), ([.write(count: 1)], false, "0"), ([.write(count: 1)], true, nil),
    ([.fail("a"), .write(count: 1)], false, nil), ([.fail("a"), .write(count: 1), .settle], false, "1"),
    ([.write(count: 1), .fail("a")], false, nil), ([.open(others: true), .write(count: 1)], false, "1"),
  ])
  func `only an unneeded file is removed`(_ steps: [Step], _ hasPending: Bool, _ name: String?) {
    var failed = failed(after: steps)
    #expect(failed.unneededFile(hasPending: hasPending)?.name == name)
    failed.removedFile()
    #expect(failed.unneededFile(hasPending: false) == nil)
  }
}
