public import ErrandCore
import ErrandSupport
import Foundation

/// A transport without a network. A closure returns the responses, and the transport records the requests.
///
/// ```swift
/// let transport = ScriptedTransport { request in .json(#"{"nick":"Ada","level":9}"#) }
/// var configuration = ClientConfiguration(baseURL: "https://api.example.com")
/// configuration.transport = .own(transport)
/// let user = try await APIClient(configuration).send(GetUser(id: 7))
/// #expect(transport.requests.map(\.url.path) == ["/users/7"])
/// ```
///
/// To choose the transport by name, register it:
/// `TransportRegistry.shared.register(ScriptedTransport.name) { transport }`.
///
/// The closure may wait, for example on a ``Latch``. Its task is cancelled if the call is cancelled or reaches its
/// deadline.
public final class ScriptedTransport: Transport {
  /// The name under which to register a scripted transport: `scripted`. No scripted transport is registered by default,
  /// because only the test knows the responses.
  public static let name = "scripted"

  private let answer: @Sendable (HTTPRequest) async throws -> ScriptedAnswer
  private let seen = Recorded<HTTPRequest>()

  /// Creates a transport from a closure. ``send(_:)`` throws the errors of the closure. The closure runs in the task of
  /// ``send(_:)``, and concurrently for concurrent calls.
  public init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> ScriptedAnswer) {
    self.answer = answer
    LeakCheck.current?.watch(self, "ScriptedTransport")
  }

  /// Creates a transport that returns the given responses in order, one for each exchange: a retry and a redirect need
  /// a response of their own. After the last response, the transport fails with `TransportFailure.Kind.notScripted`;
  /// the message names the request.
  public convenience init(_ answers: ScriptedAnswer...) {
    let received = Locked(0)
    self.init { request in
      let number = received.withLock { count in
        count += 1
        return count
      }
      guard number <= answers.count else { throw TransportFailure(notScripted: request, number, of: answers.count) }
      return answers[number - 1]
    }
  }

  /// The requests received so far, in order. Their bodies are in memory, even if the original bodies were streamed.
  public var requests: [HTTPRequest] { seen.all }

  /// The features that this transport supports: sinks, sources, informational responses, trailers and progress.
  public var capabilities: TransportCapabilities { [.bodySink, .bodySource, .informational, .trailers, .progress] }

  /// Reads the request body, records the request, and returns the closure's response.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let request = try await Self.received(exchange)
    seen.append(request)
    let answer = try await answer(request)
    if let failure = answer.failure { throw failure }
    if let length = request.body?.length, length > 0 {
      exchange.onProgress?(TransferProgress(.upload, bytes: length, total: length))
    }
    for head in answer.informational { exchange.onInformational?(head) }
    return try await deliver(answer, to: exchange, sent: request.body?.length ?? 0)
  }

  private func deliver(_ answer: ScriptedAnswer, to exchange: Exchange, sent: Int64) async throws -> HTTPResponse {
    var metrics = ExchangeMetrics()
    metrics.bytesSent = sent
    metrics.bytesReceived = Int64(answer.body.count)
    let body = exchange.request.method == .head ? Data() : answer.body
    let kept = try await Self.deliver(body, of: answer, to: exchange)
    exchange.onProgress?(TransferProgress(.download, bytes: Int64(body.count), total: Int64(body.count)))
    let response = HTTPResponse(
      head: answer.head, body: kept, trailers: answer.trailers, url: exchange.request.url, metrics: metrics)
    return exchange.sink == nil && kept.count < body.count ? response.cut() : response
  }

  /// Delivers the body to memory or to the exchange's sink. Returns the bytes that belong in memory; the result is empty
  /// if a sink takes the body.
  private static func deliver(_ body: Data, of answer: ScriptedAnswer, to exchange: Exchange) async throws -> Data {
    let flow = PausableFlow()
    var kept = Data()
    switch try exchange.sink?.begin(answer.head, flow: BodyFlow { flow.resume() }) {
    case nil:
      let limit = exchange.limits.bodyBytes
      guard body.count <= limit || StatusRule.mayBeCut(answer.head.status) else {
        throw TransportFailure.bodyTooLarge(limit)
      }
      kept = body.prefix(limit)
    case .memory(let limit): kept = body.prefix(limit)
    case .discard: break
    case .sink:
      try await write(body, to: exchange.sink, flow, exchange.call)
      if answer.breakage == nil { try exchange.sink?.end() }
    }
    if let breakage = answer.breakage { throw breakage }
    return kept
  }

  /// Writes the body to the sink, and waits while the sink pauses the body.
  private static func write(
    _ body: Data, to sink: (any BodySink)?, _ flow: PausableFlow, _ call: CallState
  ) async throws {
    guard let sink else { return }
    var rest = body
    while !rest.isEmpty {
      flow.pause()
      let piece = rest.prefix(16_384)
      rest = rest.dropFirst(piece.count)
      if try !piece.withUnsafeBytes({ try sink.write($0) }) { try await flow.wait(call) }
    }
  }
}

extension TransportFailure.Kind {
  /// The script of a `ScriptedTransport` has no response for the request. Such a request is never retried.
  public static let notScripted = TransportFailure.Kind(rawValue: "notScripted")
}

extension TransportFailure {
  /// The failure of the request with the given number, counted from 1, if a script has fewer responses.
  fileprivate init(notScripted request: HTTPRequest, _ number: Int, of count: Int) {
    let script = count == 0 ? "no response" : count == 1 ? "only 1 response" : "only \(count) responses"
    self.init(
      .notScripted,
      "The `ScriptedTransport` has no response for request \(number), \(request): it was given \(script). "
        + "Add one to its arguments, such as `.json(\"{}\")`; a retry and a redirect need a response of their own.")
  }
}

/// A thread-safe list in which tests record values while calls run.
public final class Recorded<Element: Sendable>: Sendable {
  private let elements: Locked<[Element]>

  /// Creates a list that begins with the given elements.
  public init(_ elements: [Element] = []) { self.elements = Locked(elements) }

  /// The recorded values, in the order in which they were appended.
  public var all: [Element] { elements.withLock { $0 } }
  /// The number of recorded values.
  public var count: Int { elements.withLock { $0.count } }

  /// Appends a value to the list.
  public func append(_ element: Element) { elements.withLock { $0.append(element) } }

  /// Removes and returns the first element; nil if the list is empty.
  public func takeFirst() -> Element? { elements.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

extension ScriptedTransport {
  /// Reads the body as a server would, and waits while its source has no bytes. Returns the request with the body in
  /// memory.
  private static func received(_ exchange: Exchange) async throws -> HTTPRequest {
    guard let body = exchange.request.body, body.data == nil else { return exchange.request }
    let flow = PausableFlow()
    let source = try body.open(BodyFlow { flow.resume() })
    var whole = Data()
    while true {
      flow.pause()
      let (read, piece) = try piece(of: source)
      switch read {
      case .bytes: whole.append(piece)
      case .later: try await flow.wait(exchange.call)
      case .end:
        var request = exchange.request
        request.body = HTTPBody(whole)
        return request
      }
    }
  }

  private static func piece(of source: any BodySource) throws -> (BodyRead, Data) {
    try withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
      let read = try source.read(into: buffer)
      if case .bytes(let count) = read { return (read, Data(buffer[..<count])) }
      return (read, Data())
    }
  }
}

/// Lets a call wait while a body is paused. If the body is resumed before `wait` begins, `wait` returns at once.
final class PausableFlow: Sendable {
  private struct State: Sendable {
    var isResumed = false
    var wakeup: Wakeup?
  }

  private let state = Locked(State())

  func pause() { state.withLock { $0 = State() } }

  func resume() {
    let wakeup = state.withLock { state in
      state.isResumed = true
      return state.wakeup
    }
    wakeup?.resume()
  }

  func wait(_ call: CallState) async throws(CallState.Stopped) {
    try await call.wait { wakeup in
      let isResumed = state.withLock { state in
        state.wakeup = wakeup
        return state.isResumed
      }
      if isResumed { wakeup.resume() }
    }
  }
}
