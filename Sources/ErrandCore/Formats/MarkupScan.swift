/// Scans the tags of an XML text once, builds nothing, and stops at the first position that exceeds a limit.
///
/// The scan is stricter than an XML parser, so that a parser finds no tags that the scan has missed. A `<` inside a tag
/// is an error, also in attribute values (XML 1.0, section 3.1).
struct MarkupScan {
  private let bytes: [UInt8]
  private let limits: MarkupLimits
  private var place = 0
  private var nodes = 0
  /// The positions of the `?>` of processing instructions without content, such as `<?a?>`.
  private(set) var bareInstructions: [Int] = []
  /// The elements that are still open, the innermost last.
  private var open: [OpenElement] = []
  /// The number of namespace declarations of the open elements.
  private var declarations = 0

  private struct OpenElement {
    /// The position of the element's name in the text.
    let name: Int
    /// The number of namespace declarations of the elements around this element.
    let outerDeclarations: Int
  }

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
    let name = name(at: last.name)
    throw failure(
      .malformed, "the element <\(name)> is not closed; the document is incomplete", max(0, bytes.count - 1))
  }

  /// Checks the tag, comment, CDATA section or instruction that begins with the `<` at `place`, and moves past it.
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
      throw failure(
        .malformed, "a declaration (<!…) is allowed only before the root element, and only as DOCTYPE", start)
    } else if has("</") {
      try tag()
      guard closeElement() else { throw failure(.malformed, "an end tag (</…>) has no start tag", start) }
    } else {
      try count(1, start)
      open.append(OpenElement(name: start + 1, outerDeclarations: declarations))
      guard open.count <= limits.depth else { throw at(MarkupLimits.tooDeep(limits.depth), start) }
      try tag()
      if bytes[place - 2] == UInt8(ascii: "/") { _ = closeElement() }
    }
  }

  /// Closes the innermost element, whose namespace declarations no longer apply. Returns false if no element is open.
  private mutating func closeElement() -> Bool {
    guard let element = open.popLast() else { return false }
    declarations = element.outerDeclarations
    return true
  }

  /// Moves past the `>` of a tag and counts its attributes and namespace declarations.
  private mutating func tag() throws(FormatFailure) {
    let start = place
    var (quote, attributes, valueStart): (UInt8?, Int, Int) = (nil, 0, 0)
    place += 1
    while place < bytes.count {
      let byte = bytes[place]
      if byte == UInt8(ascii: "<") {
        throw failure(
          .malformed,
          "a tag contains the character <; a > is missing before the <, or the < must be written as &lt;", place)
      }
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
      } else if byte == UInt8(ascii: "x"), declaresNamespace {
        declarations += 1
        guard declarations <= MarkupLimits.namespaces else { throw at(MarkupLimits.tooManyNamespaces, start) }
      }
      place += 1
    }
    throw failure(.malformed, "a tag does not end; the document is incomplete", start)
  }

  /// Whether the attribute whose name begins at `place` declares a namespace: its name is `xmlns` or begins with
  /// `xmlns:`.
  private var declaresNamespace: Bool {
    guard has("xmlns"), MarkupText.isSpace(bytes[place - 1]), place + 5 < bytes.count else { return false }
    let next = bytes[place + 5]
    return next == UInt8(ascii: ":") || next == UInt8(ascii: "=") || MarkupText.isSpace(next)
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
      throw failure(.malformed, "\(what) does not end; the document is incomplete", place)
    }
    place = end
  }

  private func has(_ mark: String) -> Bool { bytes[place...].starts(with: mark.utf8) }

  /// The element name whose first byte is at `place`, shortened to 60 bytes.
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

  /// Makes a failure with the line and column of the byte at `place`.
  static func failure(_ kind: FormatFailure.Kind, _ reason: String, _ bytes: [UInt8], _ place: Int) -> FormatFailure {
    let before = bytes[..<min(place, bytes.count)]
    let line = before.count { $0 == 0x0A } + 1
    let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return FormatFailure(kind, reason, line: line, column: before.endIndex - start + 1)
  }

  /// The position after the next occurrence of `mark`; nil if `mark` does not occur.
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
  /// The largest number of nested levels of elements in the document.
  package var depth: Int
  /// The largest number of elements and attributes in the document.
  package var nodes: Int
  /// The largest number of attributes of one element. libxml2 compares every pair of attributes, which takes long for
  /// many attributes.
  package static let attributes = 1_000
  /// The largest number of namespace declarations (`xmlns` and `xmlns:…`) of an element and the elements around it
  /// together. For each name, libxml2 searches all declarations that apply.
  package static let namespaces = 1_000
  /// The largest number of bytes in one text or attribute value; libxml2 accepts no more.
  package static let text = 10_000_000

  package init(depth: Int, nodes: Int) {
    self.depth = depth
    self.nodes = nodes
  }

  static func tooDeep(_ limit: Int) -> FormatFailure {
    FormatFailure(
      .limit, "the document is nested deeper than \(limit) levels; let the server send a document with fewer levels")
  }

  static var tooManyNamespaces: FormatFailure {
    FormatFailure(
      .limit,
      "more than \(namespaces) namespace declarations apply to an element; let the server declare each namespace once")
  }

  static func tooMany(_ limit: Int) -> FormatFailure {
    FormatFailure(.limit, "the document has more than \(limit) values; let the server split it into several responses")
  }
}
