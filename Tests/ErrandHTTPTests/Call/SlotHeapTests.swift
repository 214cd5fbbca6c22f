import ErrandSupport
import ErrandTesting
import Testing

/// The heap, compared with a dictionary that is searched.
struct SlotHeapTests {
  private enum Step: CaseIterable { case insert, insertAgain, move, remove, pop }

  @Test(arguments: 0..<20) func `heap agrees with a linear search`(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    var heap = SlotHeap<Int>()
    var places = [Int](repeating: SlotHeap<Int>.nowhere, count: 40)
    var model: [Int: Int] = [:]
    for _ in 0..<400 {
      let slot = random.next(below: places.count)
      // Keys are unique, so exactly one member is the smallest.
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
