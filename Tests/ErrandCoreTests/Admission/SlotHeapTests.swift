@testable import ErrandCore
import Testing

/// The heap against a dictionary that is searched.
@Suite struct SlotHeapTests {
  private enum Step: CaseIterable { case insert, insertAgain, move, remove, pop }

  @Test(arguments: 0..<20) func `heap agrees with a search`(seed: UInt64) {
    var random = SeededNumbers(seed)
    var heap = SlotHeap<Int>()
    var places = [Int](repeating: SlotHeap<Int>.nowhere, count: 40)
    var model: [Int: Int] = [:]
    for _ in 0..<400 {
      let slot = random.next(below: places.count)
      // Keys are unique, so that the least member is one.
      let key = random.next(below: 1_000) * places.count + slot
      switch (Step.allCases[random.next(below: Step.allCases.count)], model[slot] != nil) {
      case (.insert, false), (.insertAgain, false):
        heap.insert(slot, key, &places)
        model[slot] = key
      case (.move, true):
        heap.move(slot, to: key, &places)
        model[slot] = key
      case (.remove, true):
        heap.remove(slot, &places)
        model[slot] = nil
      case (.pop, _):
        guard let first = heap.first?.slot else { continue }
        heap.remove(first, &places)
        model[first] = nil
      default: continue
      }
      let least = model.min { $0.value < $1.value }
      #expect(heap.first?.slot == least?.key)
      #expect(heap.isEmpty == model.isEmpty)
      #expect(places.indices.allSatisfy { (places[$0] == SlotHeap<Int>.nowhere) == (model[$0] == nil) })
    }
  }
}

/// Numbers that look random and are the same each time (SplitMix64).
struct SeededNumbers {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// One of the numbers below a limit.
  mutating func next(below limit: Int) -> Int { Int(next() % UInt64(max(limit, 1))) }
}
