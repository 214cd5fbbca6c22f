/// Scans the tags of an XML text once, builds nothing, and stops at the first position that exceeds a limit.
///
/// The scan is stricter than a parser, so that no parser finds other tags than the scan: a `<` inside a tag is an error
/// (XML 1.0, section 3.1, forbids it in attribute values, too).
struct MarkupScan {
  private let bytes: [UInt8]
  private let limits: MarkupLimits
  private var place = 0
  private var nodes = 0
  /// The positions of the `?>` of processing instructions that consist of a name only.
  private(set) var bareInstructions: [Int] = []
  /// The positions of the names of the open elements.
  private var open: [Int] = []

  init(_ bytes: [UInt8], _ limits: MarkupLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  mutating func run() throws(FormatFailure) {
    while place < bytes.count {
      let start = place
      while place < bytes.count, bytes[place] != UInt8(ascii: "<") { place += 1 }
      try check(textFrom: start)
      if place < bytes.count { try markup() }
    }
    guard let last = open.last else { return }
    let name = name(at: last)
    throw failure(.malformed, "the element <\(name)> is not closed; the document breaks off", max(0, bytes.count - 1))
  }

  /// Reads the markup that begins with the `<` at `place`.
  private mutating func markup() throws(FormatFailure) {
    let start = place
    if has("<!--") {
      try skip(4, to: "-->", "a comment")
    } else if has("<![CDATA[") {
      try skip(9, to: "]]>", "a CDATA section")
      try check(textFrom: start)
    } else if has("<?") {
      try skip(2, to: "?>", "a processing instruction")
      let data = bytes[(start + 2)..<(place - 2)].drop { !MarkupText.isSpace($0) }
      if data.allSatisfy(MarkupText.isSpace) { bareInstructions.append(place - 2) }
    } else if has("<!") {
      throw failure(.malformed, "a declaration (<!…) is not allowed here", start)
    } else if has("</") {
      try tag()
      if open.popLast() == nil { throw failure(.malformed, "an element is closed that was not opened", start) }
    } else {
      try count(1, start)
      open.append(start + 1)
      guard open.count <= limits.depth else { throw at(MarkupLimits.tooDeep(limits.depth), start) }
      try tag()
      if bytes[place - 2] == UInt8(ascii: "/") { open.removeLast() }
    }
  }

  /// Moves past the `>` of a tag and counts its attributes.
  private mutating func tag() throws(FormatFailure) {
    let start = place
    var (quote, attributes, valueStart): (UInt8?, Int, Int) = (nil, 0, 0)
    place += 1
    while place < bytes.count {
      let byte = bytes[place]
      if byte == UInt8(ascii: "<") { throw failure(.malformed, "there is a < inside a tag", place) }
      if let end = quote {
        if byte == end {
          quote = nil
          try check(textFrom: valueStart)
        }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        (quote, valueStart) = (byte, place)
        attributes += 1
        guard attributes <= MarkupLimits.attributes else {
          throw failure(.limit, "an element has more than \(MarkupLimits.attributes) attributes", start)
        }
      } else if byte == UInt8(ascii: ">") {
        place += 1
        return try count(attributes, start)
      }
      place += 1
    }
    throw failure(.malformed, "a tag does not end; the document breaks off", start)
  }

  private mutating func count(_ more: Int, _ place: Int) throws(FormatFailure) {
    nodes += more
    guard nodes <= limits.nodes else { throw at(MarkupLimits.tooMany(limits.nodes), place) }
  }

  private func check(textFrom start: Int) throws(FormatFailure) {
    guard place - start <= MarkupLimits.text else {
      throw failure(
        .limit, "a text has more than \(MarkupLimits.text) bytes; let the server send the text in a separate response",
        start)
    }
  }

  private mutating func skip(_ count: Int, to mark: String, _ what: String) throws(FormatFailure) {
    guard let end = Self.find(mark, in: bytes, from: place + count) else {
      throw failure(.malformed, "\(what) does not end; the document breaks off", place)
    }
    place = end
  }

  private func has(_ mark: String) -> Bool { bytes[place...].starts(with: mark.utf8) }

  /// The name at a position, at most 60 bytes of it.
  private func name(at place: Int) -> String {
    let ends: [UInt8] = [UInt8(ascii: ">"), UInt8(ascii: "/")]
    let name = bytes[place...].prefix { !MarkupText.isSpace($0) && !ends.contains($0) }
    return String(decoding: name.prefix(60), as: UTF8.self)
  }

  private func failure(_ kind: FormatFailure.Kind, _ reason: String, _ place: Int) -> FormatFailure {
    Self.failure(kind, reason, bytes, place)
  }

  private func at(_ failure: FormatFailure, _ place: Int) -> FormatFailure {
    self.failure(failure.kind, failure.reason, place)
  }

  // MARK: - Places

  /// A failure with the line and column of a byte.
  static func failure(_ kind: FormatFailure.Kind, _ reason: String, _ bytes: [UInt8], _ place: Int) -> FormatFailure {
    let before = bytes[..<min(place, bytes.count)]
    let line = before.count { $0 == 0x0A } + 1
    let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return FormatFailure(kind, reason, line: line, column: before.endIndex - start + 1)
  }

  /// The position after the next `mark`.
  static func find(_ mark: String, in bytes: [UInt8], from start: Int) -> Int? {
    let mark = Array(mark.utf8)
    guard let last = mark.last else { return nil }
    var place = start + mark.count - 1
    while place < bytes.count {
      if bytes[place] == last, bytes[(place - mark.count + 1)...place].elementsEqual(mark) { return place + 1 }
      place += 1
    }
    return nil
  }
}

/// Limits on the structure of an XML document.
package struct MarkupLimits {
  /// How deep elements may be nested.
  package var depth: Int
  /// How many elements and attributes the document may have.
  package var nodes: Int
  /// How many attributes one element may have; libxml2 compares every pair of them.
  package static let attributes = 1_000
  /// How many bytes one text or attribute value may have; libxml2 accepts no more.
  package static let text = 10_000_000

  package init(depth: Int, nodes: Int) {
    self.depth = depth
    self.nodes = nodes
  }

  static func tooDeep(_ limit: Int) -> FormatFailure {
    FormatFailure(.limit, "it is nested deeper than \(limit) levels; let the server send a document with fewer levels")
  }

  static func tooMany(_ limit: Int) -> FormatFailure {
    FormatFailure(.limit, "it has more than \(limit) values; let the server split it into several responses")
  }
}
