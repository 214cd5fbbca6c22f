/// A wrong or unusual property of a partial response (206). Tests use it to check how a client handles such a response.
public enum RangeDeviation: Sendable {
  /// Sends a range that begins this number of bytes after the requested range. `Content-Range` is correct.
  case movedPart(by: Int)
  /// Sends a range that begins this number of bytes after the requested range, but with the `Content-Range` of the
  /// requested range. Only a checksum can detect the error.
  case movedBytes(by: Int)
  /// Sends at most this number of bytes, with correct header fields. RFC 9110 section 14.2 allows a server to shorten a
  /// range.
  case shortened(to: Int)
  /// Sends the partial response without the field `Content-Range`.
  case noContentRange
  /// Sends a second field `Content-Range` that states another range.
  case twoContentRanges
  /// Sends this text as the value of the field `Content-Range`.
  case contentRange(String)
  /// Sends this total length in `Content-Range`, also in a response with status 416. Nil means that `*` is sent, which
  /// is legal with status 206, but not with status 416.
  case total(Int?)
  /// Sends this entity tag instead of the correct entity tag; nil omits the entity tag.
  case entityTag(String?)
  /// Adds a `Content-Encoding` field, although the bytes are not encoded.
  case contentEncoding(String)
  /// Sends the range inside `multipart/byteranges`, which is legal only if several ranges were requested.
  case multipart
  /// Sends a `Content-Length` that differs by this number from the length of the range. The body has the announced
  /// length.
  case contentLength(by: Int)
  /// Sends this number of bytes more than `Content-Range` states, without `Content-Length`, and closes the connection.
  case overrun(by: Int)
  /// Sends the range with status 200 and without `Content-Range`, as if it were the whole file.
  case partAsWhole
  /// Sends this range in response to a request for the whole file. Requests with a range get a correct response.
  case unrequested(Range<Int>)
}
