import ErrandJSON
import Foundation

/// Makes the body of a ``Multipart``: its heads and delimiters in memory, its parts as they are (RFC 2046 section 5.1.1,
/// RFC 7578).
struct MultipartWriter {
  /// Forms that are wholly in memory and no larger than this become one piece.
  static let smallest = 64 << 10

  let parts: [Multipart.Part]
  let encoding: JSONEncoding

  /// The body, and what stands between its parts.
  func body() throws(APIError) -> (body: HTTPBody, boundary: String) {
    var bodies: [HTTPBody] = []
    for part in parts { bodies.append(try content(of: part)) }
    let boundary = Self.boundary(absentFrom: bodies.compactMap(\.data))
    return (try body(bodies, boundary: boundary), boundary)
  }

  /// The body with a boundary that is given.
  func body(boundary: String) throws(APIError) -> HTTPBody {
    var bodies: [HTTPBody] = []
    for part in parts { bodies.append(try content(of: part)) }
    return try body(bodies, boundary: boundary)
  }

  private func body(_ bodies: [HTTPBody], boundary: String) throws(APIError) -> HTTPBody {
    var pieces: [HTTPBody] = []
    for (index, part) in parts.enumerated() {
      let head = (index > 0 ? "\r\n" : "") + "--\(boundary)\r\n\(try Self.head(of: part))\r\n"
      pieces += [HTTPBody(Data(head.utf8)), bodies[index]]
    }
    pieces.append(HTTPBody(Data(((parts.isEmpty ? "" : "\r\n") + "--\(boundary)--\r\n").utf8)))
    return Self.whole(pieces)
  }

  private static func whole(_ pieces: [HTTPBody]) -> HTTPBody {
    let joined = HTTPBody.joining(pieces)
    let inMemory = pieces.compactMap(\.data)
    guard inMemory.count == pieces.count, let length = joined.length, length <= Int64(smallest) else { return joined }
    return HTTPBody(inMemory.reduce(into: Data()) { $0.append($1) })
  }

  private func content(of part: Multipart.Part) throws(APIError) -> HTTPBody {
    switch part.content {
    case .body(let body):
      guard !body.isUsedUp else {
        throw .build(.invalidBody, "The part \"\(part.name)\" of the body cannot be sent: \(HTTPBody.usedUpClause).")
      }
      return body
    case .file(let url): return try .file(url)
    case .written(let format, let encode):
      do {
        return HTTPBody(try encode(encoding))
      } catch {
        let reason = APIError.writingClause(error)
        let clause = "the part \"\(part.name)\" of the body could not be written as \(format): \(reason)"
        throw .build(.invalidBody, APIError.sentence(clause), cause: error)
      }
    }
  }

  // MARK: - Heads

  private static func head(of part: Multipart.Part) throws(APIError) -> String {
    var head = "Content-Disposition: form-data; name=\"\(escaped(part.name))\""
    if let filename = part.filename { head += "; filename=\"\(escaped(filename))\"" }
    head += "\r\n"
    var fields = part.fields.all
    guard !fields.contains(where: { $0.name == "Content-Disposition" || $0.name == .contentType }) else {
      throw .build(
        .invalidBody,
        "The part \"\(part.name)\" of the body has Content-Disposition or Content-Type among its fields;"
          + " give name, filename and type instead.")
    }
    if let type = part.type { fields.insert(HTTPField(.contentType, type), at: 0) }
    for field in fields {
      try WireRules.check(field)
      head += "\(field.name): \(field.value)\r\n"
    }
    return head
  }

  /// A name between quotes, as browsers write it (RFC 7578 section 5.1, the HTML standard's form rules).
  static func escaped(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 == 0x22 || $0 == 0x0D || $0 == 0x0A }) else { return name }
    var escaped = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": escaped += "%22"
      case "\r": escaped += "%0D"
      case "\n": escaped += "%0A"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  // MARK: - Boundary

  private static let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

  /// Letters and digits that occur in none of the bytes: 238 bits of chance.
  static func boundary(absentFrom bytes: [Data]) -> String {
    var random = SystemRandomNumberGenerator()
    return boundary(absentFrom: bytes, using: &random)
  }

  static func boundary(absentFrom bytes: [Data], using random: inout some RandomNumberGenerator) -> String {
    while true {
      let boundary = String((0..<40).map { _ in letters[Int(random.next(upperBound: UInt(letters.count)))] })
      let needle = Data(boundary.utf8)
      if !bytes.contains(where: { $0.range(of: needle) != nil }) { return boundary }
    }
  }
}
