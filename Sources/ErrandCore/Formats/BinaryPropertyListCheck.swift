import Foundation

/// Looks at the shape of a binary property list before Foundation reads it.
///
/// The form: `bplist00`, the objects one behind the other, a table of their offsets, and a trailer of 32 bytes with the
/// width of an offset, the width of a reference, the number of objects, the first object and the table's offset.
/// Arrays (0xA0), sets (0xC0) and dictionaries (0xD0) hold references to other objects, which may stand in a circle.
struct BinaryPropertyListCheck {
  private let bytes: [UInt8]
  /// What is known of an object: how deep it reaches, and how many values it unfolds to. Nil while it is looked at.
  private var known: [Int: (depth: Int, values: Int)?] = [:]

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
  private mutating func look(at object: Int, in table: Table, depth: Int) throws(FormatFailure) -> (Int, Int) {
    if let found = known[object] {
      guard let found else {
        throw FormatFailure(.forbidden, "an object of the property list holds itself")
      }
      try Self.check(depth: depth + found.depth - 1, values: found.values)
      return found
    }
    try Self.check(depth: depth, values: 1)
    let members = try table.members(of: object, in: bytes, atMost: PropertyListFormat.mostValues - read)
    read += members.count
    known.updateValue(nil, forKey: object)
    var (deepest, values) = (1, 1)
    for member in members {
      let (below, more) = try look(at: member, in: table, depth: depth + 1)
      deepest = max(deepest, below + 1)
      values += more
      try Self.check(depth: depth, values: values)
    }
    known.updateValue((deepest, values), forKey: object)
    return (deepest, values)
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

    /// The objects that an object holds. No room is made for more than are wanted.
    func members(of object: Int, in bytes: [UInt8], atMost limit: Int) throws(FormatFailure) -> [Int] {
      guard object < count, let place = Self.number(bytes, at: start + object * offsetWidth, width: offsetWidth),
        place < start
      else { throw Self.broken }
      let marker = bytes[place]
      guard [0xA0, 0xB0, 0xC0, 0xD0].contains(marker & 0xF0) else { return [] }
      var (first, length) = (place + 1, Int(marker & 0x0F))
      if length == 0x0F {
        // A longer one says its length as an integer object: 0x10 and the exponent of its width.
        guard first < start, bytes[first] & 0xF0 == 0x10, bytes[first] & 0x0F <= 3 else { throw Self.broken }
        let width = 1 << Int(bytes[first] & 0x0F)
        guard let long = Self.number(bytes, at: first + 1, width: width) else { throw Self.broken }
        (first, length) = (first + 1 + width, long)
      }
      let (references, overflow) = length.multipliedReportingOverflow(by: marker & 0xF0 == 0xD0 ? 2 : 1)
      guard !overflow, first <= start, references <= (start - first) / referenceWidth else { throw Self.broken }
      guard references <= limit else { throw MarkupLimits.tooMany(PropertyListFormat.mostValues) }
      return try numbers(references, from: first, in: bytes)
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
