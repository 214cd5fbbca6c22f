public import ErrandJSON
import ErrandSupport
import Foundation

/// The events of a server (server-sent events), which is asked anew where the connection breaks.
///
/// Each loop asks on its own; leaving it ends the call. Each connection is a call of its own for accessories, metrics
/// and limits.
public struct EventStream: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = ServerSentEvent
  /// What is thrown where the server refuses, or cannot be reached any more.
  public typealias Failure = APIError

  let connect: @Sendable (_ lastID: String?) async throws(APIError) -> ResponseStream
  /// Who would be asked as now; nil for nobody.
  let account: @Sendable () -> String?
  /// Puts a wait among what the client has under way; returns what takes it out.
  let enlist: @Sendable (CallState, CallRecord) -> @Sendable () -> Void
  let timers: any Timers
  let rule: ReconnectRule
  let limit: Int

  /// Begins to listen.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Listens.
  public struct Iterator: AsyncIteratorProtocol {
    private let source: EventStream
    private var lines: LineReader?
    private var parser: EventParser
    private var failures = 0
    private var told: Duration?
    private var isOver = false
    /// Who listens, once somebody does.
    private var account: String?
    /// The rules of the connection for JSON.
    private(set) var json = JSONDecoding.standard

    init(_ source: EventStream) {
      self.source = source
      parser = EventParser(limit: source.limit)
    }

    /// The identifier that the server is told after a break, as `Last-Event-ID`.
    public var lastEventID: String { parser.lastID }

    /// The next event; nil where the server has ended the stream: by status 204, or by the end of an answer that is not
    /// asked for anew.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> ServerSentEvent? { try await next(isolation: #isolation) }

    /// The next event; nil where the server has ended the stream.
    /// - Throws: ``APIError``.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(APIError) -> ServerSentEvent? {
      while !isOver {
        do {
          if let event = try await heard(isolation: actor) { return event }
          if !isOver { try await pause(after: .end, isolation: actor) }
        } catch {
          try await pause(
            after: .failure(error, retryAfter: error.response.flatMap { RetryAfter.delay(in: $0.fields) }),
            isolation: actor)
        }
      }
      return nil
    }

    /// The next event of this connection; nil at its end.
    private mutating func heard(isolation actor: isolated (any Actor)?) async throws(APIError) -> ServerSentEvent? {
      if lines == nil { try await connect() }
      while let line = try await lines?.next(isolation: actor) {
        // A comment, too, shows that the server is well.
        failures = 0
        do {
          if let event = try parser.take(line) { return event }
        } catch {
          throw failure(.eventTooLong(error.limit))
        }
      }
      return nil
    }

    /// An error that ends the stream: nobody wants the rest.
    mutating func failure(_ error: APIError) -> APIError {
      isOver = true
      return lines?.failure(error) ?? error
    }

    private mutating func connect() async throws(APIError) {
      let present = source.account()
      guard account == nil || account.hasSameBytes(as: present) else {
        isOver = true
        throw .otherAccount
      }
      account = present
      told = parser.retry ?? told
      parser = EventParser(lastID: parser.lastID, hasID: parser.hasID, limit: source.limit)
      let answer = try await source.connect(parser.hasID ? parser.lastID : nil)
      if answer.status == 204 {
        isOver = true
        // To its end, so that the call is not told of as cancelled.
        for try await _ in answer {}
        return
      }
      guard Validating.takes(answer.fields, ["text/event-stream"]) else {
        isOver = true
        answer.cancel()
        let found = Validating.shown(answer.fields)
        throw APIError(.validate, .contentType, "The answer has \(found); expected text/event-stream.")
      }
      json = answer.json
      // A line that was cut off is none (HTML section 9.2.6).
      lines = LineReader(answer, limit: source.limit, endsAtReturn: true, dropsRest: true)
    }

    /// Waits before the server is asked again, or ends the stream.
    private mutating func pause(
      after ended: ReconnectDecision.Break, isolation actor: isolated (any Actor)?
    ) async throws(APIError) {
      lines = nil
      failures += 1
      let decision = ReconnectDecision.decide(
        ended, source.rule, failures: failures, told: parser.retry ?? told, chance: .random(in: 0...1))
      guard case .connect(let delay) = decision, !isOver else {
        isOver = true
        if case .failure(let error, _) = ended { throw error }
        return
      }
      do {
        try await source.sleep(for: delay, as: account, isolation: actor)
      } catch {
        isOver = true
        throw error
      }
    }
  }

  private func sleep(
    for delay: Duration, as account: String?, isolation actor: isolated (any Actor)?
  ) async throws(APIError) {
    let life = CallState(deadline: nil, timers: timers, priority: .normal)
    let record = CallRecord()
    if let account { record.goes(as: account) }
    let leave = enlist(life, record)
    defer {
      leave()
      life.settle()
    }
    let slept: Result<Void, CallState.Stopped> = await withTaskCancellationHandler(
      operation: {
        _ = actor
        do throws(CallState.Stopped) {
          try await life.sleep(until: timers.now.advanced(by: delay))
          return .success(())
        } catch {
          return .failure(error)
        }
      },
      onCancel: { life.stop(.cancelled) }, isolation: actor)
    if case .failure(let stopped) = slept { throw record.isLoggedOut ? .loggedOut : .stopped(stopped.reason) }
  }
}

extension APIClient {
  /// Listens to the events of a server.
  ///
  /// ```swift
  /// for try await event in client.events(of: Prices()) {
  ///   show(try event.value(as: Price.self))
  /// }
  /// ```
  ///
  /// The server is asked for `text/event-stream`. Where the connection breaks or the answer ends, it is asked again by
  /// the rule, with `Last-Event-ID`; its own `retry:` replaces the rule's delay, and a `Retry-After` is kept to.
  /// Comments count as signs of life: where nothing comes for the idle time-out (``Timeouts/idle``), the connection
  /// counts as broken. A request that is not safe to repeat, such as a POST to a language model, is sent once unless a
  /// rule is given. The deadline of the options is that of each connection.
  ///
  /// - Parameters:
  ///   - request: The request. Its ``APIRequest/Response`` does not matter.
  ///   - options: What is chosen for each connection; their sink is the stream.
  ///   - rule: When to ask anew; nil for ``ReconnectRule/standard`` for GET, ``ReconnectRule/never`` for others.
  ///   - limit: How many bytes an event may have; a longer one ends the stream.
  public func events<R: APIRequest>(
    of request: R, options: CallOptions = CallOptions(), reconnecting rule: ReconnectRule? = nil,
    limit: Int = ResponseStream.lineLimit
  ) -> EventStream {
    EventStream(
      connect: { lastID throws(APIError) in
        var options = options
        options.headers = options.headers.filled(by: ["Accept": "text/event-stream"])
        if let lastID {
          // Spaces at its ends are no part of a field's value; one that the server took back is not the caller's again.
          let shown = String(Substring(ASCII.trimmed(lastID.utf8[...])))
          options.headers.set("Last-Event-ID", shown.isEmpty ? nil : .text(shown))
        }
        return try await self.stream(request, options: options)
      },
      account: { [credential = request.credential] in
        credential == .inherited ? self.presentAccount : nil
      },
      enlist: { life, record in
        let place = self.registry.add(
          .init(state: life, owner: options.ownership?.number, tag: options.tag, record: record))
        if let ownership = options.ownership { CallRun.enlist(life, with: ownership, in: self.registry) }
        return { self.registry.remove(place) }
      },
      timers: snapshot.timers, rule: rule ?? (request.method.isSafe ? .standard : .never), limit: limit)
  }
}

/// An event that a server sent (HTML Living Standard, section 9.2, "Server-sent events").
public struct ServerSentEvent: Sendable, Hashable {
  /// What it is called; `message` where the server says nothing.
  public var type: String
  /// What it holds; several lines are joined by line feeds.
  public var data: String
  /// The last identifier that the server gave, by this event or one before it; empty where it gave none.
  public var id: String

  /// Makes an event, such as for a test.
  public init(type: String = "message", data: String, id: String = "") {
    self.type = type
    self.data = data
    self.id = id
  }

  /// What it holds, read as JSON: by Errand's own decoder where nothing is said. ``EventStream/values(of:by:)`` reads
  /// by the rules of the request and the client.
  /// - Throws: ``/ErrandJSON/JSONDecodingError``.
  public func value<Value: Decodable>(
    as type: Value.Type = Value.self, by json: JSONDecoding = .fast
  ) throws(JSONDecodingError) -> Value {
    try json.decode(Value.self, from: Data(data.utf8))
  }
}
