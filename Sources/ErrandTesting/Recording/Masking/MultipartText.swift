import ErrandCore
import Foundation

/// A multipart body, taken apart as far as masking needs it (RFC 2046 section 5.1, RFC 7578).
enum MultipartText {
  /// What lies between two boundaries.
  struct Part {
    /// From the boundary to the blank line; empty where there is none.
    let head: Data
    let content: Data
    /// The name of its form field.
    let name: String?
    let type: MediaType?
  }

  /// What stands in the place of a random boundary.
  static let plainBoundary = "boundary"

  static func boundary(_ fields: HTTPFields) -> String? {
    guard let type = fields[.contentType].flatMap({ MediaType($0) }), type.essence.hasPrefix("multipart/"),  // ASCII
      let boundary = type["boundary"], !boundary.isEmpty
    else { return nil }
    return boundary
  }

  /// The parts in order; first what stands before the first boundary, last what stands behind the last.
  static func parts(of body: Data, _ boundary: String) -> [Part] {
    var parts: [Part] = []
    // The first boundary has no line break before it.
    var rest = Data("\r\n".utf8) + body
    let mark = Data("\r\n--\(boundary)".utf8)
    while let found = rest.range(of: mark) {  // bytes
      parts.append(part(Data(rest[..<found.lowerBound])))
      rest = Data(rest[found.upperBound...])
    }
    return parts + [part(rest)]
  }

  private static func part(_ whole: Data) -> Part {
    guard let blank = whole.range(of: Data("\r\n\r\n".utf8)) else {  // bytes
      return Part(head: Data(), content: whole, name: nil, type: nil)
    }
    let head = Data(whole[..<blank.upperBound])
    return Part(head: head, content: Data(whole[blank.upperBound...]), name: name(in: head), type: type(in: head))
  }

  private static func name(in head: Data) -> String? {
    let starts = ["; name=\"", ";name=\""].lazy.compactMap { head.range(of: Data($0.utf8))?.upperBound }  // bytes
    return starts.first.map { String(decoding: head[$0...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self) }
  }

  private static func type(in head: Data) -> MediaType? {
    let lower = Data(head.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 })
    let start = lower.range(of: Data("\r\ncontent-type:".utf8))?.upperBound  // bytes
    return start.flatMap { MediaType(String(decoding: head[$0...].prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)) }
  }
}
