/// A class of faults that a server or a line can produce, and where it is shown over a real socket that the answer to it
/// is right.
struct FaultClass: Sendable {
  let name: String
  /// A file below `Tests`, and words in it by which the test is found.
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
  private static let lies = "ErrandTests/Transfers/RangeLieTests.swift"
  private static let resuming = "ErrandTests/Transfers/ResumeTests.swift"

  static let connection = [
    FaultClass("refused", faults, "a refused connection is told"),
    FaultClass("reset in the header", faults, "reset in the head"),
    FaultClass("reset in the body", faults, "reset in the body"),
    FaultClass("closed before a byte", faults, "closed before a byte"),
    FaultClass("closed when a kept connection is reused", resending, "a post is not sent twice on a dying connection"),
    FaultClass("silence after accept", stops, "a stop ends the wait for a connection"),
    FaultClass("half-close", faults, "half-closed in the body"),
  ]

  static let time = [
    FaultClass("a byte at a time in header or body", stops, "a deadline ends a dripping call in time"),
    FaultClass("stall in the head", stops, "a stop ends the wait for the head"),
    FaultClass("stall in the body", stops, "a stop ends the wait for the body"),
    FaultClass("sub-second deadlines", stops, "a deadline ends a silent call in time"),
  ]

  static let truncation = [
    FaultClass("short of Content-Length", faults, "closed in the body"),
    FaultClass("chunked without its last chunk", faults, "no last chunk"),
    FaultClass("coded stream cut before its trailer", contents, "a coded body cut short is told"),
  ]

  static let framing = [
    FaultClass("length negative", faults, "a negative length"),
    FaultClass("length huge", faults, "a huge length"),
    FaultClass("length repeated or a list", faults, "a list of lengths"),
    FaultClass("lengths differ", faults, "two lengths"),
    FaultClass("length with sign", faults, "a length with a sign"),
    FaultClass("length with letters", faults, "a length with letters"),
    FaultClass("length beside Transfer-Encoding", faults, "length beside chunks"),
    FaultClass("bad chunk size", faults, "a chunk size of letters"),
    FaultClass("chunk extensions without end", faults, "flood of chunk extensions"),
    FaultClass("odd Transfer-Encoding", faults, "another transfer coding"),
    FaultClass("Transfer-Encoding twice", faults, "chunked twice"),
    FaultClass("chunked not last", faults, "chunked not last"),
    FaultClass("bytes after the end", resending, "bytes behind the end close the connection"),
    FaultClass("unasked response on an idle connection", resending, "unasked bytes are nobody's answer"),
  ]

  static let head = [
    FaultClass("no status line", faults, "no HTTP at all"),
    FaultClass("HTTP/0.9", faults, "no HTTP at all"),
    FaultClass("odd versions", faults, "HTTP/3.7"),
    FaultClass("no reason phrase", sockets, "no reason phrase is no fault"),
    FaultClass("no colon", faults, "no colon"),
    FaultClass("folded lines", "ErrandCurlTests/CurlLeniencyTests.swift", "folded lines are one field"),
    FaultClass("a folded first line", "ErrandCurlTests/CurlVersionTests.swift", "a folded first line is malformed"),
    FaultClass("NUL", faults, "NUL in a field"),
    FaultClass("Latin-1", sockets, "Latin-1 in the head is read"),
    FaultClass("megabyte fields", faults, "field of a megabyte"),
    FaultClass("100,000 fields", faults, "too many fields"),
    FaultClass("floods of 1xx", faults, "flood of informational answers"),
    FaultClass("trailers", messages, "trailers come behind the body"),
    FaultClass("204 and 304 with a body", resending, "bytes behind the end close the connection"),
    FaultClass("unasked 101", faults, "an unasked switch"),
    FaultClass("401 loops", "ErrandTests/Refreshing/RefreshTests.swift", "second refusal is the answer"),
    FaultClass(
      "429 and 503 with every form of Retry-After", "ErrandTests/Retrying/RetrySocketTests.swift",
      "every form of Retry-After is read"),
  ]

  static let redirects = [
    FaultClass("loops", sockets, "a circle of redirects ends"),
    FaultClass("no or garbage Location", sockets, "an unusable Location leads nowhere"),
    FaultClass("other schemes", sockets, "an unusable Location leads nowhere"),
    FaultClass("other host or port", origins, "no secret follows a redirect elsewhere"),
    FaultClass("downgrade", nginx, "https does not lead to http"),
    FaultClass("with a body (307, 308)", origins, "a body goes along only when told"),
    FaultClass("with a huge body", bodies, "a discarded body leaves nothing"),
  ]

  static let content = [
    FaultClass("corrupt coding", contents, "a changed byte of a coded body is told"),
    FaultClass("unknown or double coding", contents, "what cannot be undone is told"),
    FaultClass("bombs", contents, "a bomb stops at the limit"),
    FaultClass("endless bodies", faults, "endless body"),
    FaultClass("wrong charset, invalid UTF-8", sockets, "bytes of another charset are told"),
    FaultClass("BOM", sockets, "a byte order mark is obeyed"),
    FaultClass("JSON 100,000 levels deep", wire, "hostile JSON is told"),
    FaultClass("huge numbers", wire, "hostile JSON is told"),
  ]

  static let uploads = [
    FaultClass("early answer", bodies, "an early answer to an upload counts"),
    FaultClass("reset while sending", uploading, "a reset while sending is told"),
    FaultClass("417", uploading, "a 417 is an answer, once"),
    FaultClass("100-continue never sent", uploading, "nothing waits for a 100-continue"),
  ]

  static let ranges = [
    FaultClass("206 of another place, size or version", lies, "visible lie starts over"),
    FaultClass("206 without Content-Range", lies, ".noContentRange"),
    FaultClass("200 to a range", resuming, "whole for a range starts over"),
    FaultClass("416 at the wrong time", "ErrandTests/Transfers/DownloadStatusTests.swift", "416 for ever is an error"),
  ]

  static let tls = [
    FaultClass("expired", nginx, "ERRAND_NGINX_EXPIRED"),
    FaultClass("not yet valid", nginx, "ERRAND_NGINX_NOT_YET_VALID"),
    FaultClass("self-signed", nginx, "ERRAND_NGINX_SELF_SIGNED"),
    FaultClass("unknown authority", nginx, "unknown authority is refused"),
    FaultClass("wrong host", nginx, "ERRAND_NGINX_WRONG_HOST"),
    FaultClass("name only in the common name", nginx, "ERRAND_NGINX_COMMON_NAME"),
    FaultClass("old versions", "ErrandTests/Trust/TLSVersionTests.swift", "old versions are refused"),
    FaultClass("silence in the handshake", "ErrandCurlTests/CurlTransportTests.swift", "a silent TLS server"),
    FaultClass("plain HTTP on the port", nginx, "TLS on a cleartext port fails"),
  ]

  static let outbound = [
    FaultClass(
      "control characters and spaces in method, field, value, path, host", sockets,
      "nothing smuggled reaches the wire"),
    FaultClass("file names", sockets, "a file name stays on its line"),
  ]
}
