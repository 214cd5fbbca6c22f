import Foundation

/// Looks at the shape of a binary property list before Foundation reads it.
///
/// The form: `bplist00`, the objects one behind the other, a table of their offsets, and a trailer of 32 bytes with the
/// width of an offset, the width of a reference, the number of objects, the first object and the table's offset.
/// Arrays (0xA0), sets (0xC0) and dictionaries (0xD0) hold references to other objects, which may stand in a circle.
/// Data (0x40) and texts (0x50 to 0x70) hold bytes, and Foundation copies them for each reference.
struct BinaryPropertyListCheck {
  /// What an object unfolds to.
  private struct Extent {
    /// How many levels it has.
    var depth = 1
    var values = 1
    /// In texts and data.
    var bytes: Int
  }

  private let bytes: [UInt8]
  /// The objects that were seen. Nil while one is looked at.
  private var known: [Int: Extent?] = [:]

  /// How many members were read: never more than the list unfolds to.
  private var read = 0

  init(_ body: Data) {
    bytes = Array(body)
  }

  /// - Throws: ``FormatFailure`` where references are out of range, stand in a circle, or pass a limit.
  func run() throws(FormatFailure) {
    var check = self
    let table = try Table(bytes)
    _ = try check.look(at: table.top, in: table, depth: 1)
  }

  /// Recursive, but no deeper than the limit.
  private mutating func look(at object: Int, in table: Table, depth: Int) throws(FormatFailure) -> Extent {
    if let found = known[object] {
      guard let found else {
        throw FormatFailure(.forbidden, "an object of the property list holds itself")
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
        .limit, "its texts and data unfold to more than they take in the body; let the server send it as XML")
    }
  }

  private static func check(depth: Int, values: Int) throws(FormatFailure) {
    // A value in the innermost container stands one level below it.
    guard depth <= PropertyListFormat.deepest + 1 else { throw MarkupLimits.tooDeep(PropertyListFormat.deepest) }
    guard values <= PropertyListFormat.mostValues else { throw MarkupLimits.tooMany(PropertyListFormat.mostValues) }
  }
}

extension BinaryPropertyListCheck {
  /// The trailer, and what is found by it.
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
      FormatFailure(.malformed, "the property list is damaged or breaks off; let the server send it again")
    }

    /// The objects that an object holds, and the bytes. No room is made for more members than are wanted.
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

    /// A moment is a number of eight bytes; a date that is none ends a program that prints it.
    private func checkMoment(_ bytes: [UInt8], at place: Int) throws(FormatFailure) {
      guard place <= start - 8,
        Double(bitPattern: bytes[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) }).isFinite
      else { throw Self.broken }
    }

    /// How many bytes one unit of an object takes; nil for kinds without units.
    private func width(of kind: UInt8) -> Int? {
      switch kind {
      case 0x40, 0x50, 0x70: 1
      case 0x60: 2
      case 0xA0, 0xB0, 0xC0: referenceWidth
      case 0xD0: 2 * referenceWidth
      default: nil
      }
    }

    /// How many units an object has, and where they begin.
    private func length(at place: Int, in bytes: [UInt8]) throws(FormatFailure) -> (first: Int, length: Int) {
      let (next, short) = (place + 1, Int(bytes[place] & 0x0F))
      guard short == 0x0F else { return (next, short) }
      // A longer one says its length as an integer object: 0x10 and the exponent of its width.
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

    /// A big-endian number; nil where it is cut off or too large.
    private static func number(_ bytes: [UInt8], at place: Int, width: Int) -> Int? {
      guard place >= 0, place <= bytes.count - width else { return nil }
      let value = bytes[place..<place + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Int(exactly: value)
    }
  }
}
