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

/// One 64-bit word of the tape, which describes a value: its kind, and the length and position of its text.
///
/// A scalar has one word. An array or object has two words, followed by the words of its contents:
/// - The first word has the number of members, and the index after the last word of the contents.
/// - The second word has the position of the text and, for an object, the index at which the search for a key begins.
///
/// In an object, the word of each key precedes the words of its value.
struct JSONWord {
  /// The kind of a value. For numbers and strings, the kind depends on how the value is written.
  enum Kind: UInt8 {
    case null, no, yes
    /// A number that has only digits and perhaps a minus sign.
    case integer
    /// A number with a fraction or an exponent.
    case decimal
    /// A string without escapes.
    case plain
    /// A string with escapes.
    case escaped
    case array, object
    /// An object whose keys need a table, because a linear search would be slow or wrong: it has more than 64 keys, a
    /// repeated key, or a key with escapes.
    case objectWithKeyTable
  }

  /// The maximum of a length or a number of members: 2^28 − 1.
  static let most = 1 << 28 - 1

  let bits: UInt64

  init(bits: UInt64) { self.bits = bits }

  /// - Parameters:
  ///   - length: For a scalar, the length of its text in bytes, without the quotes of a string; for a container, the
  ///     number of its members.
  ///   - place: For a scalar, the position of its text; for a container, the index after its last word.
  init(_ kind: Kind, length: Int, place: Int) {
    bits =
      UInt64(kind.rawValue) << 60 | UInt64(truncatingIfNeeded: length & Self.most) << 32
      | UInt64(truncatingIfNeeded: place & 0xFFFF_FFFF)
  }

  var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: bits >> 60)) ?? .null }
  var length: Int { Int(truncatingIfNeeded: bits >> 32) & Self.most }
  var place: Int { Int(truncatingIfNeeded: bits & 0xFFFF_FFFF) }

  var isContainer: Bool { bits >> 60 >= UInt64(Kind.array.rawValue) }
  var isObject: Bool { bits >> 60 >= UInt64(Kind.object.rawValue) }
  var isString: Bool { isKind(.plain) || isKind(.escaped) }
  var isNumber: Bool { isKind(.integer) || isKind(.decimal) }

  /// Whether the value is of one kind. This check is faster than reading `kind`.
  @inline(__always) func isKind(_ kind: Kind) -> Bool { bits >> 60 == UInt64(kind.rawValue) }
}
