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
    guard let type = fields[.contentType].flatMap({ MediaType($0) }), type.essence.hasPrefix("multipart/"),
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
    while let found = rest.range(of: mark) {
      parts.append(part(Data(rest[..<found.lowerBound])))
      rest = Data(rest[found.upperBound...])
    }
    return parts + [part(rest)]
  }

  private static func part(_ whole: Data) -> Part {
    guard let blank = whole.range(of: Data("\r\n\r\n".utf8)) else {
      return Part(head: Data(), content: whole, name: nil, type: nil)
    }
    let head = Data(whole[..<blank.upperBound])
    let text = String(decoding: head, as: UTF8.self)
    return Part(head: head, content: Data(whole[blank.upperBound...]), name: name(in: text), type: type(in: text))
  }

  private static func name(in head: String) -> String? {
    let start = ["; name=\"", ";name=\""].compactMap { head.range(of: $0)?.upperBound }.first
    return start.map { String(head[$0...].prefix { $0 != "\"" }) }
  }

  private static func type(in head: String) -> MediaType? {
    let start = head.range(of: "\r\nContent-Type:", options: .caseInsensitive)?.upperBound
    return start.flatMap { MediaType(String(head[$0...].prefix { !$0.isNewline })) }
  }
}
