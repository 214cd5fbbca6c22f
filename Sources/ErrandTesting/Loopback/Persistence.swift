/// Whether a connection stays open after an answer (RFC 9112 sections 6.3 and 9.3).
enum Persistence {
  static func keepsOpen(after answer: LoopbackAnswer, to request: RecordedRequest) -> Bool {
    if request.headers.lists("close", under: "Connection") { return false }
    if request.version == "HTTP/1.0", !request.headers.lists("keep-alive", under: "Connection") { return false }
    guard let (status, headers) = lastHead(of: answer) else { return true }
    if headers.lists("close", under: "Connection") { return false }
    return request.method == "HEAD" || !HTTPText.mayHaveContent(status)
      || headers["Content-Length"] != nil || headers["Transfer-Encoding"] != nil
  }

  private static func lastHead(of answer: LoopbackAnswer) -> (Int, LoopbackHeaders)? {
    for step in answer.steps.reversed() {
      if case .head(let status, _, let headers) = step { return (status, headers) }
    }
    return nil
  }
}
