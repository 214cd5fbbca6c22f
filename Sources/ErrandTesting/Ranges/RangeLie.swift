/// What a server says wrongly, or oddly, of a part that it sends (206), each in one way.
package enum RangeLie: Sendable {
  /// Another part than was asked for, so many bytes further on, and says so.
  case movedPart(by: Int)
  /// The bytes of another place, so many further on, under the `Content-Range` that was asked for. Nothing but a
  /// checksum shows it.
  case movedBytes(by: Int)
  /// Fewer bytes than were asked for, at most so many; true to the fields, and legal (RFC 9110 section 14.2).
  case shortened(to: Int)
  /// No `Content-Range`.
  case noContentRange
  /// A second `Content-Range` beside the first, for another place.
  case twoContentRanges
  /// A `Content-Range` of this text.
  case contentRange(String)
  /// Another total in `Content-Range`, also with 416; nil stands for `*`, which is legal but with 416.
  case total(Int?)
  /// Another entity tag; nil for none.
  case entityTag(String?)
  /// A `Content-Encoding`, over bytes that are as they were.
  case contentEncoding(String)
  /// The part inside `multipart/byteranges`, as is legal only where several ranges were asked for.
  case multipart
  /// A `Content-Length` that is off by so many, with as many bytes as it says.
  case contentLength(by: Int)
  /// More bytes than `Content-Range` promises, so many, with no word on the length; then the connection closes.
  case overrun(by: Int)
  /// The part under status 200, without `Content-Range`: as if it were the whole.
  case partAsWhole
  /// This part to a request for the whole; a request with a range is answered rightly.
  case unasked(Range<Int>)
}
