import ErrandHTTP
import ErrandTesting
import TestSupport
import Testing

struct TimerHeapTests {
  /// The rules of the heap in their simplest, slowest form.
  private struct Model {
    var entries: [(at: Int64, name: Int, token: TimerToken)] = []

    var next: Int64? { entries.map(\.at).min() }
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func `heap agrees with a sorted list`(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    var heap = TimerHeap()
    var model = Model()
    var gone: [TimerToken] = []
    let fired = Recorded<Int>()
    for name in 0..<1_000 {
      switch random.next() % 8 {
      case 0..<4:
        let at = Int64(random.next() % 200)
        let token = heap.insert(at: MonotonicInstant(nanoseconds: at)) { fired.append(name) }
        #expect(!model.entries.contains { $0.token == token } && !gone.contains(token))
        model.entries.append((at, name, token))
      case 4..<6 where !model.entries.isEmpty:
        let index = Int(random.next() % UInt64(model.entries.count))
        let entry = model.entries.remove(at: index)
        heap.remove(entry.token)?()
        #expect(fired.all.last == entry.name)
        gone.append(entry.token)
      case 6 where !gone.isEmpty:
        let old = gone[Int(random.next() % UInt64(gone.count))]
        let reached = heap.remove(old) != nil
        #expect(!reached, "an old token cancels no new action")
      default:
        pop(from: &heap, &model, &gone, now: Int64(random.next() % 200), fired)
      }
      #expect(heap.count == model.entries.count)
      #expect(heap.next?.nanoseconds == model.next)
    }
    pop(from: &heap, &model, &gone, now: .max, fired)
    #expect(heap.count == 0)
  }

  private func pop(
    from heap: inout TimerHeap, _ model: inout Model, _ gone: inout [TimerToken], now: Int64, _ fired: Recorded<Int>
  ) {
    var last = Int64.min
    while let action = heap.popDue(MonotonicInstant(nanoseconds: now)) {
      action()
      guard let index = model.entries.firstIndex(where: { $0.name == fired.all.last }) else {
        Issue.record("an action fired that was not scheduled")
        return
      }
      let entry = model.entries.remove(at: index)
      #expect(entry.at <= now && entry.at >= last)
      last = entry.at
      gone.append(entry.token)
    }
    #expect(!model.entries.contains { $0.at <= now }, "every due action was popped")
  }

  @Test func `unknown token removes nothing`() {
    let heap = Held(TimerHeap())
    #expect(heap.on { $0.remove(TimerToken(number: 0)) == nil })
    #expect(heap.on { $0.remove(TimerToken(number: .max)) == nil })
    #expect(heap.on { $0.popDue(MonotonicInstant(nanoseconds: .max)) == nil })
  }
}
