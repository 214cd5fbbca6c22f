package import ErrandCore

/// The value of a `Content-Range` field in bytes (RFC 9110 section 14.4), parsed strictly.
package enum ContentRange: Sendable, Hashable {
  /// The range of the body and the total length of the file, such as `bytes 0-9/100`. The total length is nil if it is
  /// unknown, as in `bytes 0-9/*`.
  case part(Range<Int64>, total: Int64?)
  /// The field contains only the total length of the file, such as `bytes */100`. The requested range is not inside the
  /// file.
  case unsatisfied(total: Int64)

  /// Parses the value of a `Content-Range` field. Nil if the value is not valid.
  package init?(_ text: String) {
    let unit = "bytes "
    let bytes = Array(text.utf8)
    // Upper and lower case of the unit are equal (RFC 9110 section 14.1).
    guard ASCII.equalFolded(bytes.prefix(unit.utf8.count), unit.utf8) else { return nil }
    let sides = bytes.dropFirst(unit.utf8.count).split(separator: 0x2F, omittingEmptySubsequences: false)
    guard sides.count == 2, let range = sides.first, let length = sides.last else { return nil }
    let total = DecimalNumber.read(length)
    guard total != nil || length.elementsEqual("*".utf8) else { return nil }
    if range.elementsEqual("*".utf8) {
      guard let total else { return nil }
      self = .unsatisfied(total: total)
      return
    }
    let ends = range.split(separator: 0x2D, omittingEmptySubsequences: false)
    guard ends.count == 2, let first = ends.first.flatMap(DecimalNumber.read),
      let last = ends.last.flatMap(DecimalNumber.read), last < .max, first <= last,
      total.map({ last < $0 }) ?? true
    else { return nil }
    self = .part(first..<(last + 1), total: total)
  }
}

/// Parses a length or an offset in a field value. The text must consist of digits, and the number is at most
/// `Int64.max`.
enum DecimalNumber {
  static func read(_ bytes: some Collection<UInt8>) -> Int64? {
    bytes.allSatisfy(ASCII.isDigit) ? Int64(String(decoding: bytes, as: UTF8.self)) : nil
  }
}

/// The range of a resource that a request asks for.
package enum RequestedRange: Sendable, Hashable {
  /// The request asks for the whole resource.
  case whole
  /// The request asks for the first bytes of a file whose version is not known yet, at most this number. The response
  /// shows whether further ranges can be requested in parallel.
  case first(Int64)
  /// The request asks for all bytes from an offset to the end of the file. The bytes before the offset are already on
  /// the disk.
  case rest(from: Int64, Validator)
  /// The request asks for one of several ranges that are requested in parallel.
  case segment(Range<Int64>, Validator)

  /// The request fields for this range. They always rule out content codings, because the bytes of a coded body are not
  /// the bytes of the file.
  package var fields: [HTTPField] {
    let identity = HTTPField(.acceptEncoding, "identity")
    switch self {
    case .whole: return [identity]
    case .first(let count): return [identity, HTTPField("Range", "bytes=0-\(max(count, 1) - 1)")]
    case .rest(let start, let validator):
      return [identity, HTTPField("Range", "bytes=\(start)-"), HTTPField("If-Range", validator.fieldValue)]
    case .segment(let piece, let validator):
      let range = "bytes=\(piece.lowerBound)-\(piece.upperBound - 1)"
      return [identity, HTTPField("Range", range), HTTPField("If-Range", validator.fieldValue)]
    }
  }

  /// Whether the request continues an existing partial file.
  var continuesPart: Bool {
    switch self {
    case .whole, .first: false
    case .rest, .segment: true
    }
  }

  /// The request fields that ``apply(to:)`` removes. A request with these fields could get other bytes, or a response
  /// that cannot be stored as the file.
  package static let replacedFields: [HTTPFieldName] = [
    .acceptEncoding, "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
  ]

  /// Removes ``replacedFields`` from a request and adds ``fields``.
  package func apply(to fields: inout HTTPFields) {
    for name in Self.replacedFields { fields.remove(name) }
    for field in self.fields { fields.append(field) }
  }
}
