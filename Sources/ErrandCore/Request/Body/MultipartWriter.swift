import ErrandJSON
import Foundation

/// Builds the body of a ``Multipart`` (RFC 2046 section 5.1.1, RFC 7578). The headers and delimiters are in memory; the
/// contents of the parts are not copied.
struct MultipartWriter {
  /// The largest size in bytes up to which a form in memory is sent as one piece of data. A larger form, or a form with
  /// a file or a stream, is sent as several pieces.
  static let singlePieceLimit = 64 << 10

  private typealias Piece = (head: String, body: HTTPBody)

  let parts: [Multipart.Part]
  let encoding: JSONEncoding

  func body() throws(APIError) -> (body: HTTPBody, boundary: String) {
    let pieces = try pieces()
    let boundary = Self.boundary(of: pieces)
    return (Self.body(pieces, boundary: boundary), boundary)
  }

  private func pieces() throws(APIError) -> [Piece] {
    var pieces: [Piece] = []
    for part in parts { pieces.append((try Self.head(of: part), try content(of: part))) }
    return pieces
  }

  private static func body(_ parts: [Piece], boundary: String) -> HTTPBody {
    var pieces: [HTTPBody] = []
    for (index, part) in parts.enumerated() {
      let head = (index > 0 ? "\r\n" : "") + "--\(boundary)\r\n\(part.head)\r\n"
      pieces += [HTTPBody(Data(head.utf8)), part.body]
    }
    pieces.append(HTTPBody(Data(((parts.isEmpty ? "" : "\r\n") + "--\(boundary)--\r\n").utf8)))
    return whole(pieces)
  }

  private static func whole(_ pieces: [HTTPBody]) -> HTTPBody {
    let joined = HTTPBody.joining(pieces)
    let inMemory = pieces.compactMap(\.data)
    guard inMemory.count == pieces.count, let length = joined.length, length <= Int64(singlePieceLimit) else {
      return joined
    }
    return HTTPBody(inMemory.reduce(into: Data()) { $0.append($1) })
  }

  private func content(of part: Multipart.Part) throws(APIError) -> HTTPBody {
    switch part.content {
    case .body(let body):
      if let obstacle = body.obstacle {
        throw .build(.invalidBody, "The part \"\(part.name)\" of the body cannot be sent: \(obstacle).")
      }
      return body
    case .file(let url): return try .file(url)
    case .written(let format, let encode):
      do {
        return HTTPBody(try encode(encoding))
      } catch {
        let reason = APIError.writingClause(error)
        let clause = "the part \"\(part.name)\" of the body could not be encoded as \(format): \(reason)"
        throw .build(.invalidBody, APIError.sentence(clause), cause: error)
      }
    }
  }

  // MARK: - Headers

  private static func head(of part: Multipart.Part) throws(APIError) -> String {
    var head = "Content-Disposition: form-data; name=\"\(escaped(part.name))\""
    if let filename = part.filename { head += "; filename=\"\(escaped(filename))\"" }
    head += "\r\n"
    var fields = part.fields.all
    guard !fields.contains(where: { $0.name == "Content-Disposition" || $0.name == .contentType }) else {
      throw .build(
        .invalidBody,
        "The part \"\(part.name)\" of the body has Content-Disposition or Content-Type among its fields;"
          + " set the properties `name`, `filename` and `type` of the part instead.")
    }
    if let type = part.type { fields.insert(HTTPField(.contentType, type), at: 0) }
    for field in fields {
      try APIError.check(field)
      head += "\(field.name): \(field.value)\r\n"
    }
    return head
  }

  /// Escapes a name for use between quotes, as browsers escape it (RFC 7578 section 5.1, form rules of the HTML
  /// standard).
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

  /// Returns the boundary of a form. If all parts are in memory and have at most ``singlePieceLimit`` bytes
  /// together, the boundary is a hash of the parts, so that a cache recognizes equal forms as equal requests. Otherwise
  /// the boundary is random.
  private static func boundary(of pieces: [Piece]) -> String {
    let bytes = pieces.compactMap(\.body.data)
    guard bytes.count == pieces.count, bytes.reduce(0, { $0 + $1.count }) <= singlePieceLimit else {
      return boundary(absentFrom: bytes)
    }
    var hash = StableHash()
    for (piece, bytes) in zip(pieces, bytes) {
      hash.add(piece.head)
      hash.add(bytes)
    }
    return isAbsent(hash.text, from: bytes) ? hash.text : boundary(absentFrom: bytes)
  }

  private static func isAbsent(_ boundary: String, from bytes: [Data]) -> Bool {
    let needle = Data(boundary.utf8)
    return !bytes.contains { $0.range(of: needle) != nil }
  }

  /// Returns 40 random letters and digits (238 bits) that do not occur in the given bytes.
  static func boundary(absentFrom bytes: [Data]) -> String {
    var random = SystemRandomNumberGenerator()
    return boundary(absentFrom: bytes, using: &random)
  }

  static func boundary(absentFrom bytes: [Data], using random: inout some RandomNumberGenerator) -> String {
    while true {
      let boundary = String((0..<40).map { _ in letters[Int(random.next(upperBound: UInt(letters.count)))] })
      if isAbsent(boundary, from: bytes) { return boundary }
    }
  }
}
