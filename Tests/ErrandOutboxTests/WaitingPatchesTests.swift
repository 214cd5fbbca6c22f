import Errand
import Testing

@testable import ErrandOutbox

/// The patches of waiting entries in memory, and their changes.
struct WaitingPatchesTests {
  private static func patches(_ id: Int64, _ state: Int = 0) -> EntryPatches {
    EntryPatches(id: id, state: state, patches: [.changing(GetPage.self) { _, _ in }])
  }

  private static let target = ObjectIdentifier(GetPage.self)

  @Test func `news are the changes after the cursor`() {
    var all = WaitingPatches(account: "ada", version: 1, after: nil)
    for id in [1, 2, 5] as [Int64] { all.set(Self.patches(id), for: id) }
    let first = all.news(for: Self.target, since: nil)
    #expect(first.isWhole && first.entries.map(\.id) == [1, 2, 5])
    all.set(nil, for: 2)
    all.set(Self.patches(3), for: 3)
    all.set(EntryPatches(id: 9, state: 0, patches: []), for: 9)
    let second = all.news(for: Self.target, since: first.cursor)
    #expect(!second.isWhole && second.entries.map(\.id) == [3] && second.ended == [2, 9])
    #expect(all.news(for: Self.target, since: second.cursor).entries.isEmpty)
    #expect(all.news(for: Self.target, since: nil).entries.map(\.id) == [1, 3, 5])
    #expect(all.news(for: ObjectIdentifier(ListPages.self), since: nil).entries.isEmpty)
  }

  @Test func `old cursor gets all entries`() {
    var all = WaitingPatches(account: "", version: 1, after: nil)
    let old = all.news(for: Self.target, since: nil).cursor
    for id in 1...Int64(2 * WaitingPatches.mostChanges + 1) { all.set(Self.patches(id), for: id) }
    #expect(all.news(for: Self.target, since: old).isWhole)
    let next = WaitingPatches(account: "", version: 2, after: all)
    #expect(next.news(for: Self.target, since: all.news(for: Self.target, since: nil).cursor).isWhole)
  }
}
