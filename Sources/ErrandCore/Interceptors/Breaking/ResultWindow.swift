/// The last results, and how many of them were failures.
struct ResultWindow: Sendable {
  private let size: Int
  private var results: [Bool] = []
  private var next = 0
  private(set) var failures = 0

  init(size: Int) { self.size = size }

  var count: Int { results.count }

  mutating func add(isFailure: Bool) {
    if isFailure { failures += 1 }
    if results.count < size { return results.append(isFailure) }
    if results[next] { failures -= 1 }
    results[next] = isFailure
    next = (next + 1) % size
  }
}
