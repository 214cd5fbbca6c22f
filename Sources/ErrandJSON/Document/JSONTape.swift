/// The 64-bit words of a document, to which the parser appends. The words contain the kinds and positions of all
/// values.
struct JSONTape {
  private(set) var words: UnsafeMutablePointer<UInt64>
  private(set) var count = 0
  private var capacity: Int

  /// - Parameter capacity: The initial capacity in words.
  init(capacity: Int) {
    self.capacity = capacity
    words = .allocate(capacity: capacity)
  }

  subscript(index: Int) -> JSONWord {
    get { JSONWord(bits: words[index]) }
    nonmutating set { words[index] = newValue.bits }
  }

  @inline(__always)
  mutating func append(_ word: JSONWord) {
    if count == capacity { grow() }
    words[count] = word.bits
    count += 1
  }

  @inline(never)
  private mutating func grow() {
    let wider = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity * 2)
    wider.moveInitialize(from: words, count: count)
    words.deallocate()
    words = wider
    capacity *= 2
  }

  func deallocate() { words.deallocate() }
}
