import ErrandCore
import ErrandSupport
import Foundation

/// Divides a multipart body into the parts that masking needs (RFC 2046 section 5.1, RFC 7578).
enum MultipartText {
  /// One part of a multipart body: the bytes between two boundaries.
  struct Part {
    /// The bytes from the boundary to the blank line; empty if the part has no blank line.
    let head: Data
    let content: Data
    /// The name of the form field that the part contains; nil if the part has no name.
    let name: String?
    let type: MediaType?
  }

  /// The fixed boundary that replaces random boundaries.
  static let plainBoundary = "boundary"

  static func boundary(_ fields: HTTPFields) -> String? {
    guard let type = fields.mediaType, type.essence.hasPrefix("multipart/"),  // ASCII
      let boundary = type["boundary"], !boundary.isEmpty
    else { return nil }
    return boundary
  }

  /// A content type with the fixed boundary instead of its own. Only the value of the parameter changes: a short
  /// boundary may also occur in other parts of the text.
  static func withPlainBoundary(_ contentType: String, insteadOf boundary: String) -> String {
    let bytes = Array(contentType.utf8)
    let name = Array("boundary=".utf8)
    let starts = bytes.indices.filter { start in
      bytes[start...].prefix(name.count).elementsEqual(name) { ($0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0) == $1 }
    }
    guard let start = starts.last else { return contentType }
    let head = String(decoding: bytes[..<(start + name.count)], as: UTF8.self)
    let tail = String(decoding: bytes[(start + name.count)...], as: UTF8.self)
    return head + tail.replacingBytes(of: boundary, with: plainBoundary)
  }

  /// Whether a body begins with the boundary, without a line break before it.
  static func beginsWithBoundary(_ body: Data, _ boundary: String) -> Bool {
    body.starts(with: "--\(boundary)".utf8)
  }

  /// The parts in order. The text before the first boundary is the first part, and the text after the last boundary is
  /// the last part.
  static func parts(of body: Data, _ boundary: String) -> [Part] {
    var parts: [Part] = []
    // Each boundary is searched together with the line break before it. If the first boundary is at the start of the
    // body, a line break is added there.
    let whole = beginsWithBoundary(body, boundary) ? Data("\r\n".utf8) + body : body
    var rest = whole[...]
    let mark = Data("\r\n--\(boundary)".utf8)
    while let found = rest.range(of: mark) {  // bytes
      parts.append(part(Data(rest[..<found.lowerBound])))
      rest = rest[found.upperBound...]
    }
    return parts + [part(Data(rest))]
  }

  private static func part(_ whole: Data) -> Part {
    guard let blank = whole.range(of: Data("\r\n\r\n".utf8)) else {  // bytes
      return Part(head: Data(), content: whole, name: nil, type: nil)
    }
    let head = Data(whole[..<blank.upperBound])
    return Part(head: head, content: Data(whole[blank.upperBound...]), name: name(in: head), type: type(in: head))
  }

  /// The value of the parameter `name` of the field `Content-Disposition`, with or without quotation marks.
  private static func name(in head: Data) -> String? {
    let lower = lowercased(head)
    var rest = lower[...]
    while let found = rest.range(of: Data("name=".utf8)) {  // bytes
      let before = lower[..<found.lowerBound].last { $0 != 0x20 && $0 != 0x09 }
      if before == UInt8(ascii: ";") { return value(head[found.upperBound...]) }
      rest = rest[found.upperBound...]
    }
    return nil
  }

  /// The value of a parameter at the start of `text`.
  private static func value(_ text: Data) -> String {
    let quote = UInt8(ascii: "\"")
    let bytes =
      text.first == quote
      ? text.dropFirst().prefix { $0 != quote } : text.prefix { $0 > 0x20 && $0 != UInt8(ascii: ";") }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func type(in head: Data) -> MediaType? {
    let start = lowercased(head).range(of: Data("\r\ncontent-type:".utf8))?.upperBound  // bytes
    return start.flatMap { MediaType(String(decoding: head[$0...].prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)) }
  }

  private static func lowercased(_ text: Data) -> Data { Data(text.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }) }
}
