/// A class of faults of a server or a connection, and the test that shows the correct reaction over a real socket.
struct FaultClass: Sendable {
  let name: String
  /// A file below `Tests`, and words in it that identify the test.
  let file: String
  let words: String

  init(_ name: String, _ file: String, _ words: String) {
    self.name = name
    self.file = file
    self.words = words
  }
}

extension FaultClass {
  static let all =
    connection + time + truncation + framing + head + redirects + content + uploads + ranges + tls + outbound

  private static let faults = "TransportChecks/TransportConformance+Faults.swift"
  private static let stops = "TransportChecks/TransportConformance+Stops.swift"
  private static let resending = "TransportChecks/TransportConformance+Resending.swift"
  private static let messages = "TransportChecks/TransportConformance+Messages.swift"
  private static let bodies = "TransportChecks/TransportConformance+Bodies.swift"
  private static let uploading = "TransportChecks/TransportConformance+Uploads.swift"
  private static let contents = "ErrandCurlTests/CurlContentTests.swift"
  private static let sockets = "ErrandTests/Faults/FaultSocketTests.swift"
  private static let origins = "ErrandTests/Enemy/OriginAttackTests.swift"
  private static let wire = "ErrandTests/Enemy/WireAttackTests.swift"
  private static let nginx = "ErrandTests/Servers/NginxTests.swift"
  private static let deviations = "ErrandTests/Transfers/RangeDeviationTests.swift"
  private static let resuming = "ErrandTests/Transfers/ResumeTests.swift"

  static let connection = [
    FaultClass("refused", faults, "refused connection is a failure"),
    FaultClass("reset in the header", faults, "reset in the head"),
    FaultClass("reset in the body", faults, "reset in the body"),
    FaultClass("closed before a byte", faults, "closed before a byte"),
    FaultClass("closed when a kept connection is reused", resending, "POST is not resent on a closing connection"),
    FaultClass("silence after accept", stops, "stop ends the wait for a connection"),
    FaultClass("half-close", faults, "half-closed in the body"),
  ]

  static let time = [
    FaultClass("a byte at a time in header or body", stops, "deadline ends a slow body in time"),
    FaultClass("stall in the head", stops, "stop ends the wait for response headers"),
    FaultClass("stall in the body", stops, "stop ends the wait for the body"),
    FaultClass("sub-second deadlines", stops, "deadline ends a silent call in time"),
  ]

  static let truncation = [
    FaultClass("short of Content-Length", faults, "closed in the body"),
    FaultClass("chunked without its last chunk", faults, "no last chunk"),
    FaultClass("coded stream cut before its trailer", contents, "truncated coded body throws"),
  ]

  static let framing = [
    FaultClass("length negative", faults, "a negative length"),
    FaultClass("length huge", faults, "a huge length"),
    FaultClass("length repeated or a list", faults, "a list of lengths"),
    FaultClass("lengths differ", faults, "two lengths"),
    FaultClass("length with sign", faults, "a length with a sign"),
    FaultClass("length with letters", faults, "a length with letters"),
    FaultClass("length with Transfer-Encoding", faults, "Content-Length with chunked"),
    FaultClass("bad chunk size", faults, "a chunk size of letters"),
    FaultClass("chunk extensions without end", faults, "flood of chunk extensions"),
    FaultClass("odd Transfer-Encoding", faults, "another transfer coding"),
    FaultClass("Transfer-Encoding twice", faults, "chunked twice"),
    FaultClass("chunked not last", faults, "chunked not last"),
    FaultClass("bytes after the end", resending, "bytes after the end close the connection"),
    FaultClass("unasked response on an idle connection", resending, "unsolicited bytes are not a response"),
  ]

  static let head = [
    FaultClass("no status line", faults, "no HTTP at all"),
    FaultClass("HTTP/0.9", faults, "no HTTP at all"),
    FaultClass("odd versions", faults, "HTTP/3.7"),
    FaultClass("no reason phrase", sockets, "missing reason phrase is accepted"),
    FaultClass("no colon", faults, "no colon"),
    FaultClass("folded lines", "ErrandCurlTests/CurlLeniencyTests.swift", "folded lines form one field"),
    FaultClass("a folded first line", "ErrandCurlTests/CurlVersionTests.swift", "folded status line is malformed"),
    FaultClass("NUL", faults, "NUL in a field"),
    FaultClass("Latin-1", sockets, "Latin-1 in the header is decoded"),
    FaultClass("megabyte fields", faults, "field of a megabyte"),
    FaultClass("100,000 fields", faults, "too many fields"),
    FaultClass("floods of 1xx", faults, "flood of informational responses"),
    FaultClass("trailers", messages, "trailers arrive after the body"),
    FaultClass("204 and 304 with a body", resending, "bytes after the end close the connection"),
    FaultClass("unasked 101", faults, "an unasked switch"),
    FaultClass("401 loops", "ErrandTests/Refreshing/RefreshTests.swift", "second 401 is delivered"),
    FaultClass(
      "429 and 503 with every form of Retry-After", "ErrandTests/Retrying/RetrySocketTests.swift",
      "every form of Retry-After is parsed"),
  ]

  static let redirects = [
    FaultClass("loops", sockets, "redirect loop ends"),
    FaultClass("no or garbage Location", sockets, "unusable Location fails"),
    FaultClass("other schemes", sockets, "unusable Location fails"),
    FaultClass("other host or port", origins, "redirect elsewhere carries no secret"),
    FaultClass("downgrade", nginx, "https does not redirect to http"),
    FaultClass("with a body (307, 308)", origins, "redirected body needs permission elsewhere"),
    FaultClass("with a huge body", bodies, "discarded body leaves nothing"),
  ]

  static let content = [
    FaultClass("corrupt coding", contents, "changed byte of a coded body throws"),
    FaultClass("unknown or double coding", contents, "unsupported coding throws"),
    FaultClass("bombs", contents, "decompression bomb stops at the limit"),
    FaultClass("endless bodies", faults, "endless body"),
    FaultClass("wrong charset, invalid UTF-8", sockets, "bytes of another charset fail to decode"),
    FaultClass("BOM", sockets, "byte order mark is respected"),
    FaultClass("JSON 100,000 levels deep", wire, "hostile JSON fails validation and decoding"),
    FaultClass("huge numbers", wire, "hostile JSON fails validation and decoding"),
  ]

  static let uploads = [
    FaultClass("early answer", bodies, "early response to an upload is delivered"),
    FaultClass("reset while sending", uploading, "reset while sending is a failure"),
    FaultClass("417", uploading, "417 is delivered once"),
    FaultClass("100-continue never sent", uploading, "upload does not wait for 100-continue"),
  ]

  static let ranges = [
    FaultClass("206 of another place, size or version", deviations, "wrong Content-Range starts again"),
    FaultClass("206 without Content-Range", deviations, ".noContentRange"),
    FaultClass("200 to a range", resuming, "full response to a range starts again"),
    FaultClass("416 at the wrong time", "ErrandTests/Transfers/DownloadStatusTests.swift", "permanent 416 is an error"),
  ]

  static let tls = [
    FaultClass("expired", nginx, "ERRAND_NGINX_EXPIRED"),
    FaultClass("not yet valid", nginx, "ERRAND_NGINX_NOT_YET_VALID"),
    FaultClass("self-signed", nginx, "ERRAND_NGINX_SELF_SIGNED"),
    FaultClass("unknown authority", nginx, "unknown authority is refused"),
    FaultClass("wrong host", nginx, "ERRAND_NGINX_WRONG_HOST"),
    FaultClass("name only in the common name", nginx, "ERRAND_NGINX_COMMON_NAME"),
    FaultClass("old versions", "ErrandTests/Trust/TLSVersionTests.swift", "old TLS versions are refused"),
    FaultClass("silence in the handshake", "ErrandCurlTests/CurlTransportTests.swift", "silent TLS server"),
    FaultClass("plain HTTP on the port", nginx, "TLS on a cleartext port fails"),
  ]

  static let outbound = [
    FaultClass(
      "control characters and spaces in method, field, value, path, host", sockets,
      "smuggled text never reaches the wire"),
    FaultClass("file names", sockets, "file name cannot break its line"),
  ]
}
