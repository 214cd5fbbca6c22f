import ErrandSupport
import Synchronization

/// Finds the members of objects.
///
/// An object's second word tells beside the place of its text where to look first: at the key that was found last, since
/// types ask for their keys in the order in which texts have them. It is a hint and no more, so that one document may be
/// read from several threads: each sees one of the hints that were given.
extension JSONDocument {
  /// The index of the value that belongs to a key of an object without crowd.
  func index(of key: String, in object: Int) -> Int? {
    if let index = key.utf8.withContiguousStorageIfAvailable({ index(of: $0, in: object) }) { return index }
    var key = key
    return key.withUTF8 { index(of: $0, in: object) }
  }

  private func index(of key: UnsafeBufferPointer<UInt8>, in object: Int) -> Int? {
    let end = word(object).place
    let start = object + 2
    guard start < end else { return nil }
    let hint = hint(of: object)
    let first = hint > start && hint < end ? hint : start
    var here = first
    repeat {
      let word = word(here)
      if word.length == key.count, isSame(word, key) {
        if here != hint { setHint(here, of: object) }
        return here + 1
      }
      here = self.end(of: here + 1)
      if here == end { here = start }
    } while here != first
    return nil
  }

  private func isSame(_ word: JSONWord, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let bytes = key.baseAddress else { return true }
    return JSONBytes.areSame(text + word.place, bytes, key.count)
  }

  /// The index of the value that a path leads to, in the keys of the text; of equal keys the first one counts.
  func index(at path: JSONPath) -> Int? {
    var here = 0
    for step in path.steps {
      guard let next = index(of: step, in: here) else { return nil }
      here = next
    }
    return here
  }

  /// The index of the value that a step leads to; nil where the step leads nowhere.
  func index(of step: JSONPath.Step, in container: Int) -> Int? {
    switch step {
    case .key(let key): index(ofMember: key, in: container)
    case .index(let number): element(number, of: container)
    }
  }

  /// The index of the value of a key; nil where there is none, or no object.
  @inline(__always) func index(ofMember key: String, in container: Int) -> Int? {
    switch word(container).kind {
    case .object: index(of: key, in: container)
    case .crowd: keyTable(of: container)[key]
    default: nil
    }
  }

  /// The same, looked for first where the key is guessed to be.
  @inline(__always) func index(ofMember key: String, in container: Int, guess: Int) -> Int? {
    let object = word(container)
    if object.isKind(.object), guess < object.place, isKey(key, at: guess) { return guess + 1 }
    return index(ofMember: key, in: container)
  }

  @inline(__always) private func isKey(_ key: String, at index: Int) -> Bool {
    let word = word(index)
    return key.utf8.withContiguousStorageIfAvailable { key in
      word.length == key.count && key.baseAddress.map { JSONBytes.areSame(text + word.place, $0, key.count) } ?? true
    } ?? false
  }

  @inline(never) private func keyTable(of object: Int) -> JSONKeyTable {
    if let table = known.withLock({ $0.keys[object] }) { return table }
    let table = JSONKeyTable(self, object: object) { $0 }
    known.withLock { $0.keys[object] = table }
    return table
  }

  /// How many elements are walked over before a table of them is made.
  private static let mostWalked = 16

  /// The index of an element; nil where there is none, or no array.
  func element(_ number: Int, of array: Int) -> Int? {
    let word = word(array)
    guard word.isKind(.array), (0..<word.length).contains(number) else { return nil }
    let first = array + 2
    // Where as many words stand as elements, each has one.
    if word.place - first == word.length { return first + number }
    guard number < Self.mostWalked else { return elements(of: array)[number] }
    return (0..<number).reduce(first) { here, _ in end(of: here) }
  }

  private func elements(of array: Int) -> [Int] {
    if let places = known.withLock({ $0.elements[array] }) { return places }
    let word = word(array)
    var places: [Int] = []
    places.reserveCapacity(word.length)
    var here = array + 2
    while here < word.place {
      places.append(here)
      here = end(of: here)
    }
    known.withLock { [places] in $0.elements[array] = places }
    return places
  }

  /// Shows each key of an object with the index of its value, in the order of the text.
  func forEachMember(of object: Int, _ body: (_ key: JSONWord, _ value: Int) -> Void) {
    let end = word(object).place
    var here = object + 2
    while here < end {
      body(word(here), here + 1)
      here = self.end(of: here + 1)
    }
  }

  // MARK: - Hints

  private func hint(of object: Int) -> Int {
    Int(truncatingIfNeeded: second(of: object).pointee.load(ordering: .relaxed) >> 32)
  }

  private func setHint(_ hint: Int, of object: Int) {
    let place = second(of: object).pointee.load(ordering: .relaxed) & 0xFFFF_FFFF
    second(of: object).pointee.store(UInt64(hint) << 32 | place, ordering: .relaxed)
  }

  /// The second word of an object, which nobody reads but by this.
  private func second(of object: Int) -> UnsafePointer<Atomic<UInt64>> {
    UnsafeRawPointer(words + object + 1).assumingMemoryBound(to: Atomic<UInt64>.self)
  }
}
