import Foundation

/// Checks the structure of a binary property list before Foundation reads it.
///
/// A binary property list consists of:
///
/// - `bplist00`,
/// - the objects one after the other,
/// - a table of the offsets of the objects,
/// - a trailer of 32 bytes: the width of an offset, the width of a reference, the number of objects, the top object and
///   the offset of the table.
///
/// Arrays (0xA0), sets (0xC0) and dictionaries (0xD0) contain references to other objects, which may form a cycle. Data
/// (0x40) and texts (0x50 to 0x70) contain bytes, which Foundation copies for each reference.
struct BinaryPropertyListCheck {
  /// The size of an object, including all objects that it contains.
  private struct Extent {
    /// The number of nested levels of objects, counted from the object itself.
    var depth = 1
    var values = 1
    /// The number of bytes of all texts and data in the object.
    var bytes: Int
  }

  private let bytes: [UInt8]
  /// The size of each object that was visited; nil for an object whose members are being visited.
  private var known: [Int: Extent?] = [:]

  /// The number of references to members that were read so far. The references of each object are read only once.
  private var read = 0

  init(_ body: Data) {
    bytes = Array(body)
  }

  /// Checks the whole property list. Throws an error if references are out of range, form a cycle, or exceed a limit.
  func run() throws(FormatFailure) {
    var check = self
    let table = try Table(bytes)
    _ = try check.look(at: table.top, in: table, depth: 1)
  }

  /// Visits an object and its members, and returns their size. The limit on nested levels bounds the recursion.
  private mutating func look(at object: Int, in table: Table, depth: Int) throws(FormatFailure) -> Extent {
    if let found = known[object] {
      guard let found else {
        throw FormatFailure(.forbidden, "an object of the property list contains itself")
      }
      try Self.check(depth: depth + found.depth - 1, values: found.values)
      return found
    }
    try Self.check(depth: depth, values: 1)
    let content = try table.content(of: object, in: bytes, atMost: PropertyListFormat.mostValues - read)
    read += content.members.count
    known.updateValue(nil, forKey: object)
    var extent = Extent(bytes: content.bytes)
    for member in content.members {
      let below = try look(at: member, in: table, depth: depth + 1)
      extent.depth = max(extent.depth, below.depth + 1)
      extent.values += below.values
      extent.bytes += below.bytes
      try Self.check(depth: depth, values: extent.values)
      try check(extent.bytes)
    }
    known.updateValue(extent, forKey: object)
    return extent
  }

  private func check(_ unfolded: Int) throws(FormatFailure) {
    guard unfolded - bytes.count <= PropertyListFormat.mostRepeated else {
      throw FormatFailure(
        .limit,
        "the texts and data of the property list expand to much more than the size of the body; let the server send"
          + " the property list as XML")
    }
  }

  private static func check(depth: Int, values: Int) throws(FormatFailure) {
    // A value in the innermost container is one level below the container, so one more level is allowed.
    guard depth <= PropertyListFormat.deepest + 1 else { throw MarkupLimits.tooDeep(PropertyListFormat.deepest) }
    guard values <= PropertyListFormat.mostValues else { throw MarkupLimits.tooMany(PropertyListFormat.mostValues) }
  }
}

extension BinaryPropertyListCheck {
  /// The values in the trailer of the property list, and functions that use these values to find and read objects.
  private struct Table {
    let top: Int
    private let offsetWidth: Int
    private let referenceWidth: Int
    private let count: Int
    private let start: Int

    private static let trailer = 32
    private static let date: UInt8 = 0x33

    init(_ bytes: [UInt8]) throws(FormatFailure) {
      let end = bytes.count - Self.trailer
      guard end >= 8,
        let count = Self.number(bytes, at: end + 8, width: 8), let top = Self.number(bytes, at: end + 16, width: 8),
        let start = Self.number(bytes, at: end + 24, width: 8)
      else { throw Self.broken }
      offsetWidth = Int(bytes[end + 6])
      referenceWidth = Int(bytes[end + 7])
      self.top = top
      self.count = count
      self.start = start
      guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth), top < count, start <= end,
        count <= (end - start) / offsetWidth
      else { throw Self.broken }
    }

    static var broken: FormatFailure {
      FormatFailure(.malformed, "the property list is damaged or ends too early; let the server send it again")
    }

    /// Returns the members of a container object, or the number of bytes of a text or data object. Throws an error if a
    /// container has more than `limit` members, before memory is reserved for the members.
    func content(
      of object: Int, in bytes: [UInt8], atMost limit: Int
    ) throws(FormatFailure) -> (members: [Int], bytes: Int) {
      guard object < count, let place = Self.number(bytes, at: start + object * offsetWidth, width: offsetWidth),
        place < start
      else { throw Self.broken }
      if bytes[place] == Self.date { try checkMoment(bytes, at: place + 1) }
      let kind = bytes[place] & 0xF0
      guard let width = width(of: kind) else { return ([], 0) }
      let (first, length) = try length(at: place, in: bytes)
      guard first <= start, length <= (start - first) / width else { throw Self.broken }
      guard kind >= 0xA0 else { return ([], length * width) }
      let references = kind == 0xD0 ? length * 2 : length
      guard references <= limit else { throw MarkupLimits.tooMany(PropertyListFormat.mostValues) }
      return (try numbers(references, from: first, in: bytes), 0)
    }

    /// Checks a date, which is a floating-point number of eight bytes. A date that is not finite is rejected, because
    /// printing it would end the process.
    private func checkMoment(_ bytes: [UInt8], at place: Int) throws(FormatFailure) {
      guard place <= start - 8,
        Double(bitPattern: bytes[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) }).isFinite
      else { throw Self.broken }
    }

    /// The size in bytes of one unit of an object: a byte, a character or a reference. Nil for kinds of objects without
    /// units.
    private func width(of kind: UInt8) -> Int? {
      switch kind {
      case 0x40, 0x50, 0x70: 1
      case 0x60: 2
      case 0xA0, 0xB0, 0xC0: referenceWidth
      case 0xD0: 2 * referenceWidth
      default: nil
      }
    }

    /// Returns how many units an object has, and the position of the first unit. A unit is a byte, a character or a
    /// reference.
    private func length(at place: Int, in bytes: [UInt8]) throws(FormatFailure) -> (first: Int, length: Int) {
      let (next, short) = (place + 1, Int(bytes[place] & 0x0F))
      guard short == 0x0F else { return (next, short) }
      // An object of 15 or more units stores its length in an integer object that follows. The first byte of the
      // integer object is 0x10 to 0x13, for an integer of 1, 2, 4 or 8 bytes.
      guard next < start, bytes[next] & 0xF0 == 0x10, bytes[next] & 0x0F <= 3 else { throw Self.broken }
      let width = 1 << Int(bytes[next] & 0x0F)
      guard let long = Self.number(bytes, at: next + 1, width: width) else { throw Self.broken }
      return (next + 1 + width, long)
    }

    private func numbers(_ length: Int, from first: Int, in bytes: [UInt8]) throws(FormatFailure) -> [Int] {
      var members: [Int] = []
      members.reserveCapacity(length)
      for index in 0..<length {
        guard let member = Self.number(bytes, at: first + index * referenceWidth, width: referenceWidth) else {
          throw Self.broken
        }
        members.append(member)
      }
      return members
    }

    /// Reads a big-endian number; nil if the number ends outside the body or does not fit into an `Int`.
    private static func number(_ bytes: [UInt8], at place: Int, width: Int) -> Int? {
      guard place >= 0, place <= bytes.count - width else { return nil }
      let value = bytes[place..<place + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Int(exactly: value)
    }
  }
}
