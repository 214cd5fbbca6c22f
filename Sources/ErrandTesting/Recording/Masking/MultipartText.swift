import ErrandCore
import Foundation

/// A multipart body, taken apart as far as masking needs it (RFC 2046 section 5.1, RFC 7578).
enum MultipartText {
  /// What lies between two boundaries.
  struct Part {
    /// All of it.
    let whole: Data
    /// From the boundary to the blank line.
    let head: Data
    let content: Data
    /// The name of its form field.
    let name: String?
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
      return Part(whole: whole, head: whole, content: Data(), name: nil)
    }
    let head = Data(whole[..<blank.upperBound])
    return Part(whole: whole, head: head, content: Data(whole[blank.upperBound...]), name: name(in: head))
  }

  private static func name(in head: Data) -> String? {
    let text = String(decoding: head, as: UTF8.self)
    let start = ["; name=\"", ";name=\""].compactMap { text.range(of: $0)?.upperBound }.first
    return start.map { String(text[$0...].prefix { $0 != "\"" }) }
  }
}
