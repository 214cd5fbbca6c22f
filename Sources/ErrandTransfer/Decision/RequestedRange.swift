package import ErrandCore

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
