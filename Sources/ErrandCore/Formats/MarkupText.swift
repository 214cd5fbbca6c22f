package import Foundation

/// An XML text in UTF-8, prepared for a parser. The XML declaration and the document type are replaced by spaces, so
/// that no parser acts on them. The rest of the text keeps its lines and columns.
///
/// The encoding is determined by RFC 7303: by the byte order mark, otherwise by the charset of `Content-Type`,
/// otherwise by the XML declaration; otherwise it is UTF-8. A document type with an internal subset (`[`) is rejected,
/// because it can declare entities that expand without end or read files. A document type that only names an external
/// definition is harmless, because the definition is never fetched.
package struct MarkupText {
  /// The text in UTF-8, without XML declaration and document type.
  package private(set) var bytes: [UInt8]

  /// Decodes the body of a response and prepares its text for a parser.
  /// - Throws: ``FormatFailure`` if the body is empty or cannot be decoded, if it contains NUL characters, or if a
  ///   declaration is malformed or forbidden.
  package init(_ body: Data, charset: String?) throws(FormatFailure) {
    guard !body.isEmpty else { throw FormatFailure(.empty, "the body is empty") }
    do {
      bytes = Array(try TextDecoding.text(body, charset: charset ?? Self.declaredCharset(of: body)).utf8)
    } catch {
      throw FormatFailure(.malformed, error.description)
    }
    // If there is a NUL character near the start, libxml2 assumes UTF-32 and parses a different text.
    if let place = bytes.firstIndex(of: 0) {
      let cure = "let the server send no NUL characters, or name the charset if the text is in UTF-16 or UTF-32"
      throw failure("NUL characters are not allowed (XML 1.0, part 2.2); \(cure)", place)
    }
    try blankProlog()
  }

  /// Returns the text for a parser. Throws an error if the document exceeds a limit, before a parser builds anything
  /// from it.
  ///
  /// A processing instruction without content, such as `<?a?>`, becomes `<?a .?>`, because the XML parser on Linux ends
  /// the process when it reads an instruction without content. The added content is never used. Line numbers do not
  /// change, but text after the instruction moves by two columns.
  /// - Throws: ``FormatFailure`` if the document exceeds a limit or a tag is malformed.
  package func checked(_ limits: MarkupLimits) throws(FormatFailure) -> Data {
    var scan = MarkupScan(bytes, limits)
    try scan.run()
    var safe = Data()
    safe.reserveCapacity(bytes.count + 2 * scan.bareInstructions.count)
    var start = 0
    for place in scan.bareInstructions {
      safe.append(contentsOf: bytes[start..<place])
      safe.append(contentsOf: " .".utf8)
      start = place
    }
    safe.append(contentsOf: bytes[start...])
    return safe
  }

  package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  // MARK: - Encoding

  /// The name of the encoding that the bytes of the body indicate; nil for UTF-8.
  private static func declaredCharset(of body: Data) -> String? {
    let head = Array(body.prefix(256))
    if head.starts(with: [0x00, 0x3C]) { return "utf-16be" }
    if head.starts(with: [0x3C, 0x00]) { return "utf-16le" }
    guard head.starts(with: "<?xml".utf8), let end = head.firstIndex(of: UInt8(ascii: ">")) else { return nil }
    guard let name = encoding(in: String(decoding: head[..<end], as: UTF8.self)) else { return nil }
    // The XML declaration was readable as single bytes, so the encoding is not UTF-16 or UTF-32, even if the
    // declaration names one of these encodings.
    let wide = ["utf-16", "utf-32", "ucs", "iso-10646-ucs"].contains { name.lowercased().hasPrefix($0) }
    return wide ? nil : name
  }

  /// The value of `encoding` in an XML declaration; nil if the declaration names no encoding.
  private static func encoding(in declaration: String) -> String? {
    guard let key = declaration.range(of: "encoding") else { return nil }
    var rest = declaration[key.upperBound...].drop(while: \.isWhitespace)
    guard rest.popFirst() == "=" else { return nil }
    rest = rest.drop(while: \.isWhitespace)
    guard let quote = rest.popFirst(), quote == "\"" || quote == "'", let end = rest.firstIndex(of: quote) else {
      return nil
    }
    return String(rest[..<end])
  }

  // MARK: - Declaration and document type

  private mutating func blankProlog() throws(FormatFailure) {
    var place = skipSpace(from: 0)
    if has("<?xml", at: place), bytes.indices.contains(place + 5), Self.isSpace(bytes[place + 5]) {
      guard place == 0 else {
        throw failure("the XML declaration must come first; let the server send nothing before it", place)
      }
      place = try blank(from: place, through: "?>", "the XML declaration")
    }
    while true {
      place = skipSpace(from: place)
      if has("<!--", at: place) {
        place = try end(of: "-->", from: place + 4, "a comment", began: place)
      } else if has("<?", at: place) {
        place = try end(of: "?>", from: place + 2, "a processing instruction", began: place)
      } else if has("<!DOCTYPE", at: place) {
        place = try blankDocumentType(from: place)
      } else {
        return
      }
    }
  }

  private mutating func blankDocumentType(from start: Int) throws(FormatFailure) -> Int {
    var quote: UInt8?
    var place = start
    while place < bytes.count {
      let byte = bytes[place]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: "[") {
        let words = "a document type that declares entities or elements is always rejected; "
        throw MarkupScan.failure(.forbidden, words + "the server must omit the document type", bytes, start)
      } else if byte == UInt8(ascii: ">") {
        blank(start...place)
        return place + 1
      }
      place += 1
    }
    throw failure("the DOCTYPE declaration is not closed", start)
  }

  private mutating func blank(
    from start: Int, through end: String, _ what: String
  ) throws(FormatFailure) -> Int {
    let after = try self.end(of: end, from: start, what, began: start)
    blank(start...after - 1)
    return after
  }

  private mutating func blank(_ range: ClosedRange<Int>) {
    for place in range where !Self.isSpace(bytes[place]) { bytes[place] = 0x20 }
  }

  private func end(
    of mark: String, from place: Int, _ what: String, began start: Int
  ) throws(FormatFailure) -> Int {
    guard let end = MarkupScan.find(mark, in: bytes, from: place) else { throw failure("\(what) does not end", start) }
    return end
  }

  private func skipSpace(from place: Int) -> Int {
    bytes[min(place, bytes.count)...].firstIndex { !Self.isSpace($0) } ?? bytes.count
  }

  private func has(_ mark: String, at place: Int) -> Bool {
    place <= bytes.count && bytes[place...].starts(with: mark.utf8)
  }

  private func failure(_ reason: String, _ place: Int) -> FormatFailure {
    MarkupScan.failure(.malformed, reason, bytes, place)
  }
}
