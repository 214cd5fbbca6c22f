/// How a ``RangeServer`` responds to one request. The default is a correct server.
public struct RangeBehaviour: Sendable {
  /// The way in which the server handles the field `Range` of a request.
  public enum Ranges: Sendable {
    /// Honours `Range`: the response is 206, or 416 if the range has no bytes of the file.
    case honoured
    /// Ignores `Range`: the response is 200 with the whole file.
    case ignored
    /// Rejects every range with 416.
    case refused
  }

  /// The way in which the server handles the field `If-Range` of a request (RFC 9110 section 13.1.5).
  public enum IfRange: Sendable {
    /// Honours `If-Range`: sends the range only if the strong validator matches the current version of the file;
    /// otherwise sends the whole file.
    case honoured
    /// Ignores `If-Range`: always sends the range.
    case ignored
    /// Treats every `If-Range` as not matching: always sends the whole file.
    case neverMet
  }

  /// The validators that the server sends for the current version of the file.
  public enum Validators: Sendable, Equatable {
    /// The server sends a strong entity tag.
    case strongTag
    /// The server sends a weak entity tag.
    case weakTag
    /// The server sends the field `Last-Modified`, but no entity tag. The time in the field `Date` is `secondsBefore`
    /// seconds later than the time in `Last-Modified`.
    case lastModified(secondsBefore: Int)
    /// The server sends a strong entity tag and the field `Last-Modified`. The time in the field `Date` is
    /// `secondsBefore` seconds later than the time in `Last-Modified`.
    case both(secondsBefore: Int)
    /// The server sends no validator.
    case none
  }

  /// The way in which the response shows the end of its content.
  public enum Framing: Sendable {
    /// The field `Content-Length` states the length of the content.
    case length
    /// The content is sent in chunks, so that the client does not know the total length in advance.
    case chunked
    /// The content ends when the server closes the connection.
    case close
  }

  /// A failure that the server simulates.
  public enum Fault: Sendable {
    /// The connection closes after this number of bytes of the content, including framing.
    case cut(after: Int)
    /// The connection is reset after this number of bytes of the content, including framing.
    case reset(after: Int)
    /// The response stops after this number of bytes of the content, and continues when the gate opens.
    case stall(after: Int, until: Gate)
    /// The response has another status, such as 503, with these fields and a short text instead of the file.
    case status(Int, LoopbackHeaders = [:])
    /// The connection closes before a byte of the response is sent.
    case closeBeforeResponse
  }

  /// A slow response: the server sends the content in pieces, and waits at a gate between two pieces.
  public struct Pace: Sendable {
    let size: Int
    let gate: Gate

    /// Creates the description of a slow response: the server sends pieces of `size` bytes, and waits at the gate
    /// between two pieces.
    public init(_ size: Int, through gate: Gate) {
      self.size = size
      self.gate = gate
    }
  }

  /// The file that the server has when the request arrives. A file with another seed or size counts as a changed file.
  public var resource: RangeResource
  /// The way in which the server handles the field `Range`.
  public var ranges = Ranges.honoured
  /// The way in which the server handles the field `If-Range`.
  public var ifRange = IfRange.honoured
  /// The validators that the server sends.
  public var validators = Validators.strongTag
  /// The way in which the response shows the end of its content.
  public var framing = Framing.length
  /// A wrong or unusual property of a partial response (206); nil for a correct response.
  public var deviation: RangeDeviation?
  /// A failure that the server simulates; nil for none.
  public var fault: Fault?
  /// The pieces in which the content is sent; nil to send the content without waits.
  public var pace: Pace?
  /// Additional fields of responses with status 200 or 206, such as a correct or wrong `Repr-Digest`.
  public var fields = LoopbackHeaders()
  /// A closure that returns the value of the field `Content-Digest` for a range of the file; nil if the server does not
  /// compute this field.
  public var contentDigest: (@Sendable (Range<Int>) -> String)?

  /// Creates the behaviour of a correct server of a file, then applies a change to the behaviour.
  public init(_ resource: RangeResource, _ change: (inout RangeBehaviour) -> Void = { _ in }) {
    self.resource = resource
    change(&self)
  }
}

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
