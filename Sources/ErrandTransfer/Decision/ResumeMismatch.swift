/// Why a response does not continue the partial file. Except with ``excess(expected:)``, no byte of the response is
/// written.
package enum ResumeMismatch: Error, Sendable, Hashable {
  /// A 206 response arrived for a request without a range.
  case notAsked
  /// The response has no `Content-Range` field, or several. The value is the number of fields.
  case contentRangeCount(Int)
  /// The response has no strong validator or no total length, so ranges of the file cannot be combined.
  case unfit
  /// The `Content-Range` field is invalid.
  case contentRange(String)
  /// The body contains several ranges.
  case multipart
  /// The range starts at another offset than requested.
  case place(expected: Int64, found: Int64)
  /// The range ends after the expected end.
  case beyond(expected: Int64, found: Int64)
  /// The total length of the file differs from an earlier response.
  case total(expected: Int64, found: Int64)
  /// Neither this response nor an earlier one states the total length, so the end of the file is unknown.
  case noTotal
  /// The response belongs to another version of the file.
  case version
  /// The body has a content coding.
  case coding(String)
  /// The `Content-Length` field does not match the range.
  case length(String)
  /// The body is longer than announced.
  case excess(expected: Int64)
}

extension ResumeMismatch: CustomStringConvertible {
  /// One sentence.
  package var description: String { "The server's response does not continue where the partial file ends: \(clause)." }

  private var clause: String {
    switch self {
    case .notAsked: "it is a partial response (206), but the whole file was requested"
    case .unfit: "it has no strong validator or no total length, so ranges of the file cannot be combined"
    case .contentRangeCount(0): "it does not state its range (no Content-Range)"
    case .contentRangeCount(let count): "it has \(count) Content-Range fields"
    case .contentRange(let text): "its Content-Range is invalid: “\(text.prefix(80))”"
    case .multipart: "it contains several ranges (multipart/byteranges)"
    case .place(let expected, let found): "it starts at byte \(found) instead of \(expected)"
    case .beyond(let expected, let found): "it ends at byte \(found), after the expected end \(expected)"
    case .total(let expected, let found): "the file has \(found) bytes now, but had \(expected) before"
    case .noTotal: "the server does not state the total length of the file"
    case .version: "it is another version of the resource"
    case .coding(let coding): "it has a content coding (Content-Encoding “\(coding.prefix(40))”)"
    case .excess(let expected): "it is longer than the announced \(expected) bytes"
    case .length(let text): "its Content-Length “\(text.prefix(40))” does not match its range"
    }
  }
}
