/// The reason why a response does not continue the partial file. No byte of such a response is written, except in the
/// case ``excess(expected:)``.
package enum ResumeMismatch: Error, Sendable, Hashable {
  /// A response with status 206 arrived, but the request asked for no range.
  case notAsked
  /// The response has no `Content-Range` field, or several. The value is the number of fields.
  case contentRangeCount(Int)
  /// The response has no strong validator, or does not state the total length. So its range cannot be combined with
  /// ranges of other responses.
  case unfit
  /// The response has an invalid `Content-Range` field.
  case contentRange(String)
  /// The response body contains several ranges.
  case multipart
  /// The range in the response starts at another offset than the requested range.
  case place(expected: Int64, found: Int64)
  /// The range in the response ends after the expected end.
  case beyond(expected: Int64, found: Int64)
  /// The total length that the response states differs from the total length in an earlier response.
  case total(expected: Int64, found: Int64)
  /// Neither this response nor an earlier one states the total length, so the end of the file is unknown.
  case noTotal
  /// The response belongs to another version of the file.
  case version
  /// The response body has a content coding, such as gzip.
  case coding(String)
  /// The `Content-Length` field of the response differs from the length of the range in the response.
  case length(String)
  /// The response body is longer than the response headers announced.
  case excess(expected: Int64)
}

extension ResumeMismatch: CustomStringConvertible {
  /// A sentence for error messages. It gives the reason why the response does not continue the partial file.
  package var description: String { "The server's response does not continue where the partial file ends: \(clause)." }

  private var clause: String {
    switch self {
    case .notAsked: "the response is partial (206), but the whole file was requested"
    case .unfit: "the response has no strong validator or no total length, so its range cannot be combined with others"
    case .contentRangeCount(0): "the response does not state its range (no Content-Range)"
    case .contentRangeCount(let count): "the response has \(count) Content-Range fields"
    case .contentRange(let text): "the Content-Range of the response is invalid: “\(text.prefix(80))”"
    case .multipart: "the response contains several ranges (multipart/byteranges)"
    case .place(let expected, let found): "the response starts at byte \(found) instead of \(expected)"
    case .beyond(let expected, let found): "the response ends at byte \(found), after the expected end \(expected)"
    case .total(let expected, let found): "the file has \(found) bytes now, but had \(expected) before"
    case .noTotal: "the server does not state the total length of the file"
    case .version: "the response is from another version of the resource"
    case .coding(let coding): "the response has a content coding (Content-Encoding “\(coding.prefix(40))”)"
    case .excess(let expected): "the response is longer than the announced \(expected) bytes"
    case .length(let text): "the Content-Length “\(text.prefix(40))” of the response does not match its range"
    }
  }
}
