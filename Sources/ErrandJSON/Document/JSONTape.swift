/// The words of a document while the parser appends to them. They contain the kinds and positions of all values.
struct JSONTape {
  private(set) var words: UnsafeMutablePointer<UInt64>
  private(set) var count = 0
  private var room: Int

  /// - Parameter room: The initial capacity in words.
  init(room: Int) {
    self.room = room
    words = .allocate(capacity: room)
  }

  subscript(index: Int) -> JSONWord {
    get { JSONWord(bits: words[index]) }
    nonmutating set { words[index] = newValue.bits }
  }

  @inline(__always)
  mutating func append(_ word: JSONWord) {
    if count == room { grow() }
    words[count] = word.bits
    count += 1
  }

  @inline(never)
  private mutating func grow() {
    let wider = UnsafeMutablePointer<UInt64>.allocate(capacity: room * 2)
    wider.moveInitialize(from: words, count: count)
    words.deallocate()
    words = wider
    room *= 2
  }

  func deallocate() { words.deallocate() }
}
