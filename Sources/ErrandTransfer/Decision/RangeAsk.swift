package import ErrandCore

/// What of a resource is asked for.
package enum RangeAsk: Sendable, Hashable {
  /// All of it.
  case whole
  /// The first bytes of it, at most so many, of a version that is not known yet: whether pieces may be asked for side by
  /// side shows by the answer.
  case first(Int64)
  /// All behind so many bytes that are there.
  case rest(from: Int64, Validator)
  /// A piece, for several side by side.
  case segment(Range<Int64>, Validator)

  /// The fields that ask for it. Always without a content coding: the bytes of a coded body are not those of the file.
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

  /// Whether it goes on with what is there.
  var goesOn: Bool {
    switch self {
    case .whole, .first: false
    case .rest, .segment: true
    }
  }

  /// The fields of a request that would make it ask for something else, or make its answer unusable for a file.
  package static let replacedFields: [HTTPFieldName] = [
    .acceptEncoding, "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
  ]

  /// Puts the fields into a request, in the place of its own.
  package func apply(to fields: inout HTTPFields) {
    for name in Self.replacedFields { fields.remove(name) }
    for field in self.fields { fields.append(field) }
  }
}
