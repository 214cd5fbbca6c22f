public import ErrandCore
import ErrandSupport
import Foundation

/// A transport without a network: a closure gives the answers, and what was sent is recorded.
///
/// ```swift
/// let transport = ScriptedTransport { request in .json(#"{"nick":"Ada","level":9}"#) }
/// var configuration = ClientConfiguration(baseURL: "https://api.example.com")
/// configuration.transport = .own(transport)
/// let user = try await APIClient(configuration).send(GetUser(id: 7))
/// #expect(transport.requests.map(\.url.path) == ["/users/7"])
/// ```
///
/// To choose it by name, register it: `TransportRegistry.shared.register(ScriptedTransport.name) { transport }`.
///
/// The closure may wait, on a ``Latch`` for one, and a cancel or the deadline of the call cancels its task.
public final class ScriptedTransport: Transport {
  /// The name to register one under: `scripted`. It stands in no registry by itself, since only the test knows the
  /// answers.
  public static let name = "scripted"

  private let answer: @Sendable (HTTPRequest) async throws -> ScriptedAnswer
  private let seen = Recorded<HTTPRequest>()

  /// Makes a transport of a closure; what it throws is thrown by ``send(_:)``. It runs where that is called,
  /// for several calls at once where they overlap.
  public init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> ScriptedAnswer) {
    self.answer = answer
    LeakCheck.current?.watch(self, "ScriptedTransport")
  }

  /// Makes a transport that gives answers in order and, when they are used up, fails with
  /// `TransportFailure.Kind.other`.
  public convenience init(_ answers: ScriptedAnswer...) {
    let rest = Recorded(answers)
    self.init { _ in
      guard let next = rest.takeFirst() else { throw TransportFailure(.other, "the script has no answer left") }
      return next
    }
  }

  /// The requests that came, in order; a body that was read while it was sent is bytes in them.
  public var requests: [HTTPRequest] { seen.all }

  /// Sinks and sources, informational answers, trailers and progress.
  public var capabilities: TransportCapabilities { [.bodySink, .bodySource, .informational, .trailers, .progress] }

  /// Reads the body, records the request and gives the closure's answer.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let request = try await ScriptedReception(exchange).request()
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
    let delivery = ScriptedDelivery(exchange)
    var metrics = ExchangeMetrics()
    metrics.bytesSent = sent
    metrics.bytesReceived = Int64(answer.body.count)
    let body = exchange.request.method == .head ? Data() : answer.body
    let kept = try await delivery.deliver(body, head: answer.head, breakage: answer.breakage)
    exchange.onProgress?(TransferProgress(.download, bytes: Int64(body.count), total: Int64(body.count)))
    let response = HTTPResponse(
      head: answer.head, body: kept, trailers: answer.trailers, url: exchange.request.url, metrics: metrics)
    return exchange.sink == nil && kept.count < body.count ? response.cut() : response
  }
}

/// A list that any thread may add to: what tests note while calls run.
public final class Recorded<Element: Sendable>: Sendable {
  private let elements: Locked<[Element]>

  /// Makes a list.
  public init(_ elements: [Element] = []) { self.elements = Locked(elements) }

  /// What was noted, in order.
  public var all: [Element] { elements.withLock { $0 } }
  /// How much was noted.
  public var count: Int { elements.withLock { $0.count } }

  /// Notes something.
  public func append(_ element: Element) { elements.withLock { $0.append(element) } }

  /// Takes the first out; nil where there is none.
  public func takeFirst() -> Element? { elements.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

/// Brings a body into memory or into the exchange's sink, pauses included.
struct ScriptedDelivery {
  private static let pieceSize = 16_384

  private let exchange: Exchange
  private let flow = PausableFlow()

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Returns what is kept in memory.
  func deliver(_ body: Data, head: ResponseHead, breakage: TransportFailure?) async throws -> Data {
    var kept = Data()
    switch try exchange.sink?.begin(head, flow: BodyFlow { [flow] in flow.resume() }) {
    case nil:
      let limit = exchange.limits.bodyBytes
      guard body.count <= limit || StatusRule.mayBeCut(head.status) else { throw TransportFailure.bodyTooLarge(limit) }
      kept = body.prefix(limit)
    case .memory(let limit): kept = body.prefix(limit)
    case .discard: break
    case .sink:
      try await write(body, to: exchange.sink)
      if breakage == nil { try exchange.sink?.end() }
    }
    if let breakage { throw breakage }
    return kept
  }

  private func write(_ body: Data, to sink: (any BodySink)?) async throws {
    guard let sink else { return }
    var rest = body
    while !rest.isEmpty {
      flow.pause()
      let piece = rest.prefix(Self.pieceSize)
      rest = rest.dropFirst(piece.count)
      if try !piece.withUnsafeBytes({ try sink.write($0) }) { try await flow.wait(exchange.call) }
    }
  }
}
