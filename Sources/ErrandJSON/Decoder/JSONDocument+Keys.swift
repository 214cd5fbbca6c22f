import ErrandSupport
import Synchronization

/// Finds the members of objects.
///
/// In a parsed document, an object has two 64-bit words. The second word contains the position of the object's text and
/// a hint: the index of the key that was found last. The next search begins at the hint, because types usually request
/// keys in the order of the text. Several threads may read one document at the same time: each thread reads one of the
/// stored hints, and every hint leads to the same result.
extension JSONDocument {
  /// The index, in the parsed document, of the value of a key; nil if the object has no such key. The object must not
  /// be of the kind ``JSONWord/Kind/objectWithKeyTable``.
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

  /// The index, in the parsed document, of the value at a path. The path contains the keys as they are written in the
  /// text. If an object has equal keys, the first key is used.
  func index(at path: JSONPath) -> Int? {
    var here = 0
    for step in path.steps {
      guard let next = index(of: step, in: here) else { return nil }
      here = next
    }
    return here
  }

  /// The index, in the parsed document, of the value to which a step of a path leads; nil if the container has no such
  /// value.
  func index(of step: JSONPath.Step, in container: Int) -> Int? {
    switch step {
    case .key(let key): index(ofMember: key, in: container)
    case .index(let number): element(number, of: container)
    }
  }

  /// The index of the value of a key; nil if the container has no such key or is not an object.
  @inline(__always) func index(ofMember key: String, in container: Int) -> Int? {
    switch word(container).kind {
    case .object: index(of: key, in: container)
    case .objectWithKeyTable: keyTable(of: container)[key]
    default: nil
    }
  }

  /// The index of the value of a key; nil if the container has no such key or is not an object. The key at the index
  /// `guess` is compared first.
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

  /// The maximum number of elements that a search skips one by one. To find later elements, the positions of all
  /// elements are stored.
  private static let mostWalked = 16

  /// The index, in the parsed document, of an array element. Nil if the array has no such element, or if the value is
  /// not an array.
  func element(_ number: Int, of array: Int) -> Int? {
    let word = word(array)
    guard word.isKind(.array), (0..<word.length).contains(number) else { return nil }
    let first = array + 2
    // If the array has as many words as elements, each element has one word, so the index can be calculated.
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

  /// Calls `body` with each key of an object and the index of its value, in the order of the text.
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

  /// The position of the text of an array or object.
  func start(of container: Int) -> Int {
    Int(truncatingIfNeeded: second(of: container).pointee.load(ordering: .relaxed) & 0xFFFF_FFFF)
  }

  /// The second word of an array or object. It contains the position of the text and, for an object, a hint: the index
  /// of the key that was found last. All code accesses this word through the atomic pointer.
  private func second(of object: Int) -> UnsafePointer<Atomic<UInt64>> {
    UnsafeRawPointer(words + object + 1).assumingMemoryBound(to: Atomic<UInt64>.self)
  }
}

/// A table of an object's members. It is searched by the names that Swift types request. The table is used for objects
/// in which a linear search would be slow or would find the wrong member.
final class JSONKeyTable: Sendable {
  /// The names of the members, in the order in which the text contains the members.
  let names: [String]
  private let indexes: [ByteText: Int]

  /// Creates the table of an object. If several keys give equal names, the first key is used, as in Foundation.
  /// - Parameter name: Converts a key of the text to the name that types request.
  init(_ document: JSONDocument, object: Int, name: (String) -> String) {
    var names: [String] = []
    var indexes: [ByteText: Int] = [:]
    indexes.reserveCapacity(document.word(object).length)
    document.forEachMember(of: object) { key, value in
      let text = ByteText(name(document.string(key)))
      guard indexes[text] == nil else { return }
      indexes[text] = value
      names.append(text.text)
    }
    self.names = names
    self.indexes = indexes
  }

  /// The index of the value of the member with a name; nil if the object has no such member.
  subscript(name: String) -> Int? { indexes[ByteText(name)] }
}
