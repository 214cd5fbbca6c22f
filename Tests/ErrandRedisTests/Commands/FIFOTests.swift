import Testing

@testable import ErrandRedis

/// The order of a first-in, first-out queue.
struct FIFOTests {
  @Test func `order is kept for many elements`() {
    var queue = FIFO<Int>()
    var (next, expected) = (0, 0)
    for round in 0..<3_000 {
      for _ in 0..<(round % 3) {
        queue.append(next)
        next += 1
      }
      if round % 2 == 0, let item = queue.popFirst() {
        #expect(item == expected)
        expected += 1
      }
    }
    #expect(queue.count == next - expected)
    #expect(queue.takeAll() == Array(expected..<next))
    #expect(queue.isEmpty && queue.popFirst() == nil)
  }
}
