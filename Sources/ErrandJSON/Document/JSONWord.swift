/// One entry of a tape: what a value is, how long its text is, and where that begins.
///
/// A scalar has one word. An array or object has two: in the first the number of its members and the index behind its last
/// word, in the second where its text begins and, of an object, where to look first for a key. The words of what it holds
/// follow, in an object each key before its value.
struct JSONWord {
  /// What a value is, as far as its text shows.
  enum Kind: UInt8 {
    case null, no, yes
    /// A number of digits alone, perhaps with a minus sign.
    case integer
    /// Any other number.
    case decimal
    /// A string whose bytes stand for themselves.
    case plain
    /// A string with escapes.
    case escaped
    case array, object
    /// An object in which a key is not found by looking from one to the next: it has many keys, one twice, or one with
    /// escapes.
    case crowd
  }

  /// The most that a length or a number of members can be: 2^28 − 1.
  static let most = 1 << 28 - 1

  let bits: UInt64

  init(bits: UInt64) { self.bits = bits }

  /// - Parameters:
  ///   - length: The bytes of a scalar's text, without the quotes of a string; the number of a container's members.
  ///   - place: Where the text of a scalar begins; the index behind a container's last word.
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

  /// Whether the value is of one kind, which takes less time than to ask of which.
  @inline(__always) func isKind(_ kind: Kind) -> Bool { bits >> 60 == UInt64(kind.rawValue) }
}
