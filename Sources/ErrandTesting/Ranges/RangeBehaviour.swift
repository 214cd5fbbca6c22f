/// How a ``RangeServer`` answers one request: a value. As it is made it is an honest server.
package struct RangeBehaviour: Sendable {
  /// What is done about `Range`.
  package enum Ranges: Sendable {
    /// It is honoured: 206, or 416 where nothing of the file is asked for.
    case honoured
    /// It is ignored: 200 and the whole.
    case ignored
    /// It is refused: 416, whatever is asked for.
    case refused
  }

  /// What is done about `If-Range` (RFC 9110 section 13.1.5).
  package enum IfRange: Sendable {
    /// It is honoured: the part only where it names the present version by a strong validator, else the whole.
    case honoured
    /// It is ignored: the part whatever it names.
    case ignored
    /// It is taken as not met: the whole.
    case neverMet
  }

  /// What tells versions apart.
  package enum Validators: Sendable, Equatable {
    /// A strong entity tag.
    case strongTag
    /// A weak entity tag.
    case weakTag
    /// `Last-Modified`, and a `Date` so many seconds later.
    case lastModified(secondsBefore: Int)
    /// A strong entity tag, and a date as well.
    case both(secondsBefore: Int)
    /// Nothing.
    case none
  }

  /// How the end of the content is told.
  package enum Framing: Sendable {
    /// By `Content-Length`.
    case length
    /// By chunks: the total is not known before the end.
    case chunked
    /// By the end of the connection.
    case close
  }

  /// What goes wrong.
  package enum Fault: Sendable {
    /// The connection closes behind so many bytes of the content, framing included.
    case cut(after: Int)
    /// The connection is reset there.
    case reset(after: Int)
    /// Nothing more comes from there on until the gate opens.
    case stall(after: Int, until: Gate)
    /// Another status instead of the file, such as 503, with these fields and a short text.
    case status(Int, LoopbackHeaders = [:])
    /// Not a byte, and the connection closes.
    case closeBeforeAnswer
  }

  /// The content in pieces, the gate between two of them.
  package struct Trickle: Sendable {
    let size: Int
    let gate: Gate

    /// Pieces of `size` bytes through a gate.
    package init(_ size: Int, through gate: Gate) {
      self.size = size
      self.gate = gate
    }
  }

  /// The file as it is at this request; another one than before is a file that has changed.
  package var resource: RangeResource
  /// What is done about `Range`.
  package var ranges = Ranges.honoured
  /// What is done about `If-Range`.
  package var ifRange = IfRange.honoured
  /// What tells versions apart.
  package var validators = Validators.strongTag
  /// How the end of the content is told.
  package var framing = Framing.length
  /// What is said wrongly of a part.
  package var lie: RangeLie?
  /// What goes wrong.
  package var fault: Fault?
  /// How slowly the content comes.
  package var trickle: Trickle?
  /// Further fields of 200 and 206, such as a `Repr-Digest`, right or wrong.
  package var fields = LoopbackHeaders()
  /// Gives the `Content-Digest` of the bytes that are sent, by their place in the file.
  package var contentDigest: (@Sendable (Range<Int>) -> String)?

  /// Describes an honest server of a file, and what is changed about it.
  package init(_ resource: RangeResource, _ change: (inout RangeBehaviour) -> Void = { _ in }) {
    self.resource = resource
    change(&self)
  }
}
