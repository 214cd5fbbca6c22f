/// A first-in, first-out queue.
struct FIFO<Element: Sendable>: Sendable {
  private var items: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == items.count }
  var count: Int { items.count - head }
  var first: Element? { isEmpty ? nil : items[head] }

  mutating func append(_ item: Element) { items.append(item) }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    defer {
      items[head] = nil
      head += 1
      if head == items.count || head > 1_024 {
        items.removeFirst(head)
        head = 0
      }
    }
    return items[head]
  }

  /// Removes all elements and returns them in their order.
  mutating func takeAll() -> [Element] {
    defer { self = FIFO() }
    return items[head...].compactMap { $0 }
  }
}
