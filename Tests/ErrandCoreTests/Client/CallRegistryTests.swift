@testable import ErrandCore
import ErrandTesting
import Testing

struct CallRegistryTests {
  private struct AnyRequest: APIRequest {
    var path: Path { "/" }
  }

  private func entry(_ id: UInt64, owner: UInt64? = nil, tag: String? = nil) -> CallRegistry.Entry {
    let info = CallInfo(id: id, request: AnyRequest(), tag: tag, priority: .normal, owner: owner)
    return .init(state: CallState(timers: ManualClock()), subject: .call(info, CallFlags()))
  }

  @Test func `slots are reused`() {
    let registry = CallRegistry()
    let places = (0..<3).map { registry.add(entry($0)) }
    registry.remove(places[1])
    #expect(registry.add(entry(7)) == places[1])
    #expect(registry.running.compactMap(\.info?.id).sorted() == [0, 2, 7])
    for place in places { registry.remove(place) }
    #expect(registry.running.isEmpty)
  }

  @Test func `cancel counts only calls it stops`() {
    let registry = CallRegistry()
    let entries = (0..<4).map { entry($0, owner: $0 % 2, tag: $0 == 3 ? "last" : nil) }
    for entry in entries { _ = registry.add(entry) }
    entries[0].state.stop(.expired)
    #expect(registry.cancel { $0.owner == 0 } == 1)
    #expect(registry.cancel { $0.tag == "last" } == 1)
    #expect(registry.cancel { _ in true } == 1)
    #expect(registry.cancel { _ in true } == 0)
  }

  private func pause(after call: UInt64) -> CallRegistry.Entry {
    .init(state: CallState(timers: ManualClock()), subject: .pause(CallFlags(), after: call, owner: nil, tag: nil))
  }

  /// Passes an event stream from one entry to the next, as soon as a cancel has read the entries.
  private func cancelledWhilePassing(from old: CallRegistry.Entry, to new: CallRegistry.Entry) -> Int {
    let registry = CallRegistry()
    let place = registry.add(old)
    var hasPassed = false
    return registry.cancel { _ in
      if !hasPassed {
        hasPassed = true
        _ = registry.add(new)
        old.state.settle()
        _ = old.state.claim()
        _ = old.state.conclude()
        registry.remove(place)
      }
      return true
    }
  }

  @Test func `cancel reaches a stream that moves on`() {
    let next = entry(2)
    #expect(cancelledWhilePassing(from: pause(after: 1), to: next) == 1)
    #expect(next.state.endsBy == .cancelled)
    let rest = pause(after: 1)
    #expect(cancelledWhilePassing(from: entry(1), to: rest) == 1)
    #expect(rest.state.endsBy == .cancelled)
  }

  @Test func `cancel does not reach a call that starts later`() {
    let later = entry(2)
    #expect(cancelledWhilePassing(from: entry(1), to: later) == 0)
    #expect(later.state.endsBy == nil)
  }

  @Test func `stream at the end of its call counts once`() {
    let registry = CallRegistry()
    for added in [entry(1), pause(after: 1), pause(after: 2)] { _ = registry.add(added) }
    #expect(registry.cancel { _ in true } == 2)
  }

  @Test func `warning is given once`() async {
    let registry = CallRegistry()
    let given = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 { group.addTask { registry.takeWarning() } }
      return await group.reduce(into: 0) { if $1 { $0 += 1 } }
    }
    #expect(given == 1)
  }
}
