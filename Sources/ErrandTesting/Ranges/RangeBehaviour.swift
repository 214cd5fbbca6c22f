/// How a ``RangeServer`` responds to one request. The default is a correct server.
package struct RangeBehaviour: Sendable {
  /// What the server does with the field `Range` of a request.
  package enum Ranges: Sendable {
    /// Honours `Range`: the response is 206, or 416 if the range has no bytes of the file.
    case honoured
    /// Ignores `Range`: the response is 200 with the whole file.
    case ignored
    /// Rejects every range with 416.
    case refused
  }

  /// What the server does with the field `If-Range` of a request (RFC 9110 section 13.1.5).
  package enum IfRange: Sendable {
    /// Honours `If-Range`: sends the range only if the strong validator matches the current version of the file;
    /// otherwise sends the whole file.
    case honoured
    /// Ignores `If-Range`: always sends the range.
    case ignored
    /// Treats every `If-Range` as not matching: always sends the whole file.
    case neverMet
  }

  /// The validators that the server sends for the current version of the file.
  package enum Validators: Sendable, Equatable {
    /// A strong entity tag.
    case strongTag
    /// A weak entity tag.
    case weakTag
    /// `Last-Modified`, and a `Date` that is this number of seconds later.
    case lastModified(secondsBefore: Int)
    /// A strong entity tag, `Last-Modified`, and a `Date` that is this number of seconds later.
    case both(secondsBefore: Int)
    /// No validator.
    case none
  }

  /// The way in which the response shows the end of its content.
  package enum Framing: Sendable {
    /// By `Content-Length`.
    case length
    /// By chunks, so that the client does not know the total length in advance.
    case chunked
    /// By closing the connection.
    case close
  }

  /// A failure that the server simulates.
  package enum Fault: Sendable {
    /// The connection closes after this number of bytes of the content, including framing.
    case cut(after: Int)
    /// The connection is reset after this number of bytes of the content, including framing.
    case reset(after: Int)
    /// The response stops after this number of bytes of the content, and continues when the gate opens.
    case stall(after: Int, until: Gate)
    /// The response has another status, such as 503, with these fields and a short text instead of the file.
    case status(Int, LoopbackHeaders = [:])
    /// The connection closes before a byte of the response is sent.
    case closeBeforeAnswer
  }

  /// The server sends the content in pieces, and waits at a gate between two pieces.
  package struct Trickle: Sendable {
    let size: Int
    let gate: Gate

    /// Sends pieces of `size` bytes, with a wait at the gate between two pieces.
    package init(_ size: Int, through gate: Gate) {
      self.size = size
      self.gate = gate
    }
  }

  /// The file that the server has at this request. A file with another seed or size counts as a changed file.
  package var resource: RangeResource
  /// What the server does with the field `Range`.
  package var ranges = Ranges.honoured
  /// What the server does with the field `If-Range`.
  package var ifRange = IfRange.honoured
  /// The validators that the server sends.
  package var validators = Validators.strongTag
  /// The way in which the response shows the end of its content.
  package var framing = Framing.length
  /// A wrong or unusual property of a partial response (206); nil for a correct response.
  package var lie: RangeLie?
  /// A failure that the server simulates; nil for none.
  package var fault: Fault?
  /// The pieces in which the content is sent; nil to send the content without waits.
  package var trickle: Trickle?
  /// Additional fields of responses with status 200 or 206, such as a correct or wrong `Repr-Digest`.
  package var fields = LoopbackHeaders()
  /// Returns the `Content-Digest` for a range of the file; nil if the field is not computed.
  package var contentDigest: (@Sendable (Range<Int>) -> String)?

  /// Creates the behaviour of a correct server of a file, then applies a change to the behaviour.
  package init(_ resource: RangeResource, _ change: (inout RangeBehaviour) -> Void = { _ in }) {
    self.resource = resource
    change(&self)
  }
}
