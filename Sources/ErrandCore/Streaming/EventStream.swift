public import ErrandJSON
import ErrandSupport
import Foundation

/// The server-sent events of a server. If the connection is lost, the stream reconnects.
///
/// Each loop over the stream opens its own connection; leaving the loop ends the call. Each connection is a separate
/// call, which accessories observe and which has its own metrics and limits. The loop throws an ``APIError`` if the
/// server rejects the request or can no longer be reached.
///
/// A loop does not know the events of an earlier loop. To resume after them, pass the identifier of the last event as
/// the field `Last-Event-ID` in the ``CallOptions/headers`` of a new stream.
public struct EventStream: AsyncSequence, Sendable {
  /// Opens a connection. The call fails if another account than the given one is current when the request is sent. An
  /// empty account stands for no account. If the account is nil, any account is allowed. `watch` notices a cancel after
  /// this connection, and `earlier` notices a cancel before it; nil for the first connection.
  let connect:
    @Sendable (
      _ lastID: String?, _ account: String?, _ watch: EventCancelWatch, _ earlier: EventCancelWatch?
    ) async throws(APIError) -> ResponseStream
  /// The account whose credential a new connection would use; empty if no account is logged in, nil if the request does
  /// not use the credential of an account.
  let account: @Sendable () -> String?
  /// Adds the stream to the running calls of the client while it has no connection, so that it can be cancelled like a
  /// call. The number is that of a call that may still be one of the running calls. Returns the function that removes
  /// the stream again; nil if the client drains and would refuse the connection.
  let enlist: @Sendable (CallState, CallFlags, _ call: UInt64?) -> (@Sendable () -> Void)?
  let timers: any Timers
  let rule: ReconnectRule
  /// The largest size of the data of an event, in bytes.
  let limit: Int

  /// The largest size of a line, in bytes: the data of the largest event after `data: `.
  private var lineLimit: Int {
    let (sum, isTooLarge) = limit.addingReportingOverflow("data: ".utf8.count)
    return isTooLarge ? limit : sum
  }

  /// Makes an iterator, which opens a connection when the first event is requested.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads the events, and reconnects if the connection is lost.
  public struct Iterator: AsyncIteratorProtocol {
    private let source: EventStream
    private var lines: LineReader?
    private var parser: EventParser
    private var failures = 0
    /// The delay that the server set by a `retry:` line on an earlier connection; nil if the server set none.
    private var retryDelay: Duration?
    private var isOver = false {
      didSet {
        if isOver {
          cancelWatch?.end()
          cancelWatch = nil
          membership?.end()
        }
      }
    }
    /// Notices a cancel from the end of the current connection until the call of the next one has started.
    private var cancelWatch: EventCancelWatch?
    /// Makes all connections one call for the ``RepeatRule`` of the request; nil for a stream that never reconnects.
    private let membership: RepeatMembership?
    /// The account of the first connection; empty if no account was logged in. Nil before the first connection, or if
    /// the request does not use the credential of an account.
    private var account: String?
    /// The JSON decoding rules of the current connection's request.
    private(set) var json = JSONDecoding.standard

    init(_ source: EventStream) {
      self.source = source
      membership = source.rule.attempts > 0 ? RepeatMembership() : nil
      parser = EventParser(limit: source.limit)
    }

    /// The next event; nil if the server has ended the stream. The server ends the stream by status 204. If the
    /// ``ReconnectRule`` allows no reconnection, the end of a response also ends the stream.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> ServerSentEvent? { try await next(isolation: #isolation) }

    /// The next event; nil if the server has ended the stream.
    /// - Throws: ``APIError``.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(APIError) -> ServerSentEvent? {
      while !isOver {
        do {
          if let event = try await nextEvent(isolation: actor) { return event }
          if !isOver { try await pause(after: .end, isolation: actor) }
        } catch {
          let retryAfter = error.response.flatMap { RetryAfter.delay(in: $0.fields) }
          let hasLines = lines.map { $0.number > 0 } ?? false
          try await pause(
            after: .failure(error, retryAfter: retryAfter, hasLines: hasLines), isolation: actor)
        }
      }
      return nil
    }

    /// The next event of the current connection; nil if the response has ended.
    private mutating func nextEvent(isolation actor: isolated (any Actor)?) async throws(APIError) -> ServerSentEvent? {
      if lines == nil { try await connect() }
      while let line = try await lines?.next(isolation: actor) {
        // Every line, even a comment of the event stream, shows that the connection works, so the count of failures
        // starts again.
        failures = 0
        do {
          if let event = try parser.take(line) { return event }
        } catch {
          throw failure(.eventTooLong(source.limit))
        }
      }
      return nil
    }

    /// Ends the stream because of an error and discards the rest of the response. Returns the error.
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
      let earlier = cancelWatch
      if let error = earlier?.cancellation {
        isOver = true
        throw error
      }
      let watch = EventCancelWatch(source, present, membership)
      cancelWatch = watch
      retryDelay = parser.retry ?? retryDelay
      parser = EventParser(lastID: parser.lastID, hasID: parser.hasID, limit: source.limit)
      let response = try await source.connect(parser.hasID ? parser.lastID : nil, present, watch, earlier)
      if response.status == 204 {
        isOver = true
        // Reads the response to its end. Otherwise the call would be reported as cancelled.
        for try await _ in response {}
        return
      }
      guard Validating.takes(response.fields, ["text/event-stream"]) else {
        isOver = true
        response.cancel()
        let found = response.fields.shownContentType
        throw APIError(
          .validate, .contentType, "The response has \(found); expected text/event-stream.")
      }
      json = response.json
      // An incomplete last line is discarded, as the HTML standard requires (section 9.2.6).
      lines = LineReader(
        response, limit: source.lineLimit, endsAtReturn: true, dropsRest: true, overflow: .eventTooLong(source.limit))
    }

    /// Waits before the next connection. If no further connection is allowed, the stream ends. If the last connection
    /// has failed, the function then throws the error of this connection.
    private mutating func pause(
      after ended: ReconnectDecision.ConnectionEnd, isolation actor: isolated (any Actor)?
    ) async throws(APIError) {
      lines = nil
      failures += 1
      let decision = ReconnectDecision.decide(
        ended, source.rule, failures: failures, serverDelay: parser.retry ?? retryDelay, chance: .random(in: 0...1))
      guard case .connect(let delay) = decision, !isOver else {
        isOver = true
        if case .failure(let error, _, _) = ended { throw error }
        return
      }
      do {
        try await cancelWatch?.sleep(for: delay, isolation: actor)
      } catch {
        isOver = true
        throw error
      }
    }
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
  /// The request accepts `text/event-stream`. If the connection is lost or the response ends, the client reconnects by
  /// the ``ReconnectRule`` and sends `Last-Event-ID`. A `retry:` line of the server replaces the delay of the rule. The
  /// field `Retry-After` sets a minimum for the delay. If neither an event nor a comment arrives for the idle time-out
  /// (``Timeouts/idle``), the connection counts as lost. A request whose method is not safe, such as a POST to a
  /// language model, is sent only once unless a rule is given. The deadline of the options applies to each connection
  /// separately. For the ``RepeatRule`` of the request, a stream that may reconnect is one call until its end.
  ///
  /// - Parameters:
  ///   - request: The request. Its ``APIRequest/Response`` type is not used.
  ///   - options: The options of each connection. The stream sets ``CallOptions/bodySink`` itself.
  ///   - rule: The rule for reconnections. If it is nil, ``ReconnectRule/standard`` applies to safe methods, such as
  ///     GET, and ``ReconnectRule/never`` to other methods.
  ///   - limit: The largest size of the data of an event, in bytes. An event with more data ends the stream with an
  ///     error.
  public func events<R: APIRequest>(
    of request: R, options: CallOptions = CallOptions(), reconnecting rule: ReconnectRule? = nil,
    limit: Int = 1 << 20
  ) -> EventStream {
    EventStream(
      connect: { lastID, account, watch, earlier throws(APIError) in
        var options = options
        options.requiredAccount = account ?? options.requiredAccount
        options.headers = options.headers.filled(by: ["Accept": "text/event-stream"])
        if let lastID {
          // Spaces at the ends of the identifier are removed, because they are not part of a field value. If the server
          // has set an empty identifier, the field is removed. Otherwise a value of the caller's options would be sent.
          let shown = String(Substring(ASCII.trimmed(lastID.utf8[...])))
          options.headers.set("Last-Event-ID", shown.isEmpty ? nil : .text(shown))
        }
        return try await self.stream(
          request, options: options, membership: watch.membership, onStart: { earlier?.end() },
          // While the client drains, the next connection is refused, and counted, only when the loop needs it.
          onResult: { if !self.registry.isDraining { watch.begin(after: $0.id) } })
      },
      account: { [credential = request.credential] in
        credential == .inherited ? self.accountToRequire : nil
      },
      enlist: { life, flags, call in
        let place = self.registry.add(
          .init(
            state: life,
            subject: .pause(flags, after: call, owner: options.ownership?.number, tag: options.tag)))
        if place == CallRegistry.refused { return nil }
        if let ownership = options.ownership { CallRun.enlist(life, with: ownership, in: self.registry) }
        return { self.registry.remove(place) }
      },
      timers: snapshot.timers, rule: rule ?? (request.method.isSafe ? .standard : .never), limit: limit)
  }
}

/// The values in a server's events, decoded from JSON as the events arrive.
struct EventValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  let events: EventStream
  let json: JSONDecoding

  func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), json: json) }

  struct Iterator: AsyncIteratorProtocol {
    private var events: EventStream.Iterator
    private let json: JSONDecoding
    private var number = 0

    init(events: EventStream.Iterator, json: JSONDecoding) {
      self.events = events
      self.json = json
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Value? {
      guard let event = try await events.next(isolation: actor) else { return nil }
      number += 1
      do {
        return try json.filled(by: events.json).decode(Value.self, from: Data(event.data.utf8))
      } catch {
        let clause = "event \(number) of the stream could not be decoded as JSON: \(error)"
        throw events.failure(APIError(.decode, .decoding, APIError.sentence(clause), cause: error))
      }
    }
  }
}

extension EventStream {
  /// The data of the events, decoded as JSON as the events arrive. If the connection is lost, the stream reconnects.
  ///
  /// ```swift
  /// for try await price in client.events(of: Prices()).values(of: Price.self) { show(price) }
  /// ```
  ///
  /// An event whose data cannot be decoded as this type ends the stream with an error. So the data of all events must
  /// be values of this type, whatever the ``ServerSentEvent/type`` of an event is. To skip such an event, or to resume
  /// after the last event, read the events and decode each by ``ServerSentEvent/value(as:by:)``.
  ///
  /// - Parameters:
  ///   - type: The type of the value in each event.
  ///   - json: The decoding rules; by default the rules of the request and the client.
  public func values<Value: Decodable & Sendable>(
    of type: Value.Type, by json: JSONDecoding = .inherited
  ) -> some AsyncSequence<Value, APIError> & Sendable {
    EventValues(events: self, json: json)
  }
}
