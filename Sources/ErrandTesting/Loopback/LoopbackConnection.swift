/// Serves one connection of a ``LoopbackServer`` until the connection ends. Each connection has its own thread.
struct LoopbackConnection {
  private let socket: LoopbackSocket
  private let number: Int
  private let core: LoopbackCore
  private var reader: RequestReader

  init(_ socket: LoopbackSocket, number: Int, core: LoopbackCore) {
    self.socket = socket
    self.number = number
    self.core = core
    reader = RequestReader(socket, options: core.options)
  }

  /// Calls the closure ``LoopbackOptions/greeting``, and sends the response if the closure returns a response. Then
  /// responds to the requests, one after another. At the end, closes the socket.
  mutating func serve() {
    do {
      if let greeting = core.options.greeting(number) {
        var writer = ResponseWriter(greeting, to: socket, isHead: false)
        try writer.run()
      }
      var index = 0
      while var request = try reader.nextHead() {
        index += 1
        request.connection = number
        request.indexOnConnection = index
        guard try exchange(&request) else { break }
      }
    } catch ConnectionEnd.reset {
      socket.resetOnClose()
    } catch ConnectionEnd.malformed(let reason) {
      refuse(reason)
    } catch let error as LoopbackError {
      core.refuse(error.description)
    } catch {
      // After this error the server sends nothing: the client closed the connection, the server is stopping, or the
      // response contains a step that closes the connection.
    }
    socket.close()
  }

  /// Reads the body of a request and sends the response. Returns false if the connection must be closed afterwards.
  private mutating func exchange(_ request: inout RecordedRequest) throws -> Bool {
    let scripted = core.nextScripted()
    let reception = scripted?.reception ?? core.options.reception(request)
    do {
      try receiveBefore(reception, &request)
    } catch {
      if let scripted { core.putBack(scripted) }
      throw error
    }
    request.number = core.record(request)
    let answer = scripted?.answer ?? core.handler(request)
    var writer = ResponseWriter(answer, to: socket, isHead: request.method == "HEAD")
    try writer.run()
    // After a half-close the server could not respond to another request.
    return try receiveAfter(reception, &request) && !writer.isHalfClosed
      && Persistence.keepsOpen(after: answer, to: request)
  }

  /// Reads the body of the request before the response, unless `reception` requires the server to read the body later
  /// or never.
  private mutating func receiveBefore(_ reception: LoopbackReception, _ request: inout RecordedRequest) throws {
    switch reception {
    case .afterAnswer, .never:
      return
    case .held(let gate):
      do {
        try socket.pass(gate)
      } catch {
        core.abandon(request)
        throw error
      }
      try receiveBefore(.automatic, &request)
    case .automatic, .withoutContinue:
      if case .automatic = reception, request.headers.lists("100-continue", under: "Expect") {
        try socket.send(HTTPText.head(status: 100, reason: nil, headers: [:])[...])
      }
      try readBody(into: &request)
    }
  }

  /// Reads the body of the request after the response if `reception` is `afterAnswer`. Returns false if the body stays
  /// unread.
  private mutating func receiveAfter(_ reception: LoopbackReception, _ request: inout RecordedRequest) throws -> Bool {
    if request.isComplete { return true }
    guard case .afterAnswer = reception else {
      socket.waitForPeerToClose()
      return false
    }
    try readBody(into: &request)
    core.complete(request)
    return true
  }

  private mutating func readBody(into request: inout RecordedRequest) throws {
    var partial = request
    defer { request = partial }
    do {
      try reader.readBody(into: &partial)
    } catch {
      if partial.number == 0 { core.abandon(partial) }
      throw error
    }
  }

  /// Records why the input is rejected, and tries to send a response with status 400.
  private func refuse(_ reason: String) {
    core.refuse(reason)
    let answer = LoopbackAnswer.status(400, body: "LoopbackServer: the request is malformed: \(reason)\n").closing()
    var writer = ResponseWriter(answer, to: socket, isHead: false)
    try? writer.run()
  }
}

/// Decides whether a connection stays open after a response (RFC 9112 sections 6.3 and 9.3).
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
