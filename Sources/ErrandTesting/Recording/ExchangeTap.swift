import ErrandCore
import ErrandSupport
import Foundation

/// Copies the bodies and the informational responses of one exchange while they are transferred.
struct ExchangeTap: Sendable {
  /// The exchange that is passed to the base transport. Its body and its sink are wrapped to copy their bytes.
  let exchange: Exchange
  private let original: HTTPRequest
  private let sent: TappedBytes
  private let received: TappedBytes
  private let sink: TappedSink?
  private let informational = Recorded<ResponseHead>()
  /// The body of the request if the base transport must send it as a file; otherwise nil.
  private let file: HTTPBody?

  /// - Parameter capabilities: The capabilities of the base transport.
  init(_ exchange: Exchange, bodyLimit: Int, _ capabilities: TransportCapabilities) {
    original = exchange.request
    file = exchange.request.body.flatMap { $0.isSentAsFile(by: capabilities) ? $0 : nil }
    sent = TappedBytes(limit: bodyLimit)
    received = TappedBytes(limit: bodyLimit)
    sink = exchange.sink.map { [received] in TappedSink($0, received) }
    var tapped = exchange
    tapped.sink = sink
    if file == nil { tapped.request.body = exchange.request.body.map { [sent] in Self.tapped($0, sent) } }
    tapped.onInformational = { [informational] head in
      informational.append(head)
      exchange.onInformational?(head)
    }
    self.exchange = tapped
  }

  /// The recorded exchange for a response; nil if the file with the request body can no longer be read.
  func recorded(_ response: HTTPResponse) -> TappedExchange? {
    var answer = ScriptedAnswer()
    answer.head = response.head
    answer.trailers = response.trailers
    // A body that was not written to the sink is in the response.
    if sink?.head == nil { received.append(response.body) }
    return ended(answer)
  }

  /// The recorded exchange for a failure; nil for local failures, which do not depend on the server.
  func recorded(_ failure: TransportFailure) -> TappedExchange? {
    if [.sink, .bodySource, .bodyChanged, .unsupported].contains(failure.kind) { return nil }
    var answer = ScriptedAnswer()
    if let head = sink?.head {
      answer.head = head
      answer.breakage = failure
    } else {
      answer.failure = failure
    }
    return ended(answer)
  }

  private func ended(_ answer: ScriptedAnswer) -> TappedExchange? {
    do {
      if let file { try Self.read(file, sent) }
    } catch {
      return nil
    }
    var answer = answer
    answer.body = received.bytes
    answer.informational = informational.all
    var request = original
    if let body = original.body { request.body = HTTPBody(body.data ?? sent.bytes) }
    let isTooLarge = sent.isTooLarge || received.isTooLarge || (original.body?.data?.count ?? 0) > sent.limit
    return TappedExchange(
      exchange: RecordedExchange(request: request, answer: answer), isTooLarge: isTooLarge)
  }

  /// Wraps a request body so that its bytes are copied while they are sent. A body in memory is returned unchanged.
  private static func tapped(_ body: HTTPBody, _ bytes: TappedBytes) -> HTTPBody {
    guard body.data == nil else { return body }
    let tapped = HTTPBody.stream(length: body.length, isReplayable: body.isReplayable) { flow in
      let source = try body.open(flow)
      bytes.restart()
      return TappedSource(source, bytes)
    }
    return body.expectsContinue ? tapped.expectingContinue() : tapped
  }

  /// Reads the file that was sent as the request body. Throws if the file has changed since the request was built.
  private static func read(_ file: HTTPBody, _ bytes: TappedBytes) throws {
    let source = TappedSource(try file.open(BodyFlow {}), bytes)
    bytes.restart()
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
    defer { room.deallocate() }
    while !bytes.isTooLarge, case .bytes = try source.read(into: room) {}
  }
}

/// Copied bytes, up to a maximum number.
final class TappedBytes: Sendable {
  private struct State: Sendable {
    var bytes = Data()
    var isTooLarge = false
  }

  let limit: Int
  private let state = Locked(State())

  init(limit: Int) { self.limit = limit }

  var bytes: Data { state.withLock { $0.bytes } }
  var isTooLarge: Bool { state.withLock { $0.isTooLarge } }

  func restart() { state.withLock { $0 = State() } }

  /// Appends bytes. If there are then more bytes than the limit, all bytes are dropped.
  func append(_ piece: Data) {
    state.withLock { state in
      if state.isTooLarge || piece.count > limit - state.bytes.count {
        state = State(isTooLarge: true)
      } else {
        state.bytes += piece
      }
    }
  }
}

/// Copies the bytes that are written to a sink.
private final class TappedSink: BodySink {
  private let inner: any BodySink
  private let bytes: TappedBytes
  private let begun = Locked<ResponseHead?>(nil)

  init(_ inner: any BodySink, _ bytes: TappedBytes) {
    self.inner = inner
    self.bytes = bytes
  }

  /// The response headers if the body is written to the sink; otherwise nil.
  var head: ResponseHead? { begun.withLock { $0 } }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    let disposition = try inner.begin(head, flow: flow)
    if disposition == .sink { begun.withLock { $0 = head } }
    return disposition
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    bytes.append(Data(piece))
    return try inner.write(piece)
  }

  func end() throws { try inner.end() }
  func settle() async throws { try await inner.settle() }
}

/// Copies the bytes that are read from a source.
private final class TappedSource: BodySource {
  private let inner: any BodySource
  private let bytes: TappedBytes

  init(_ inner: any BodySource, _ bytes: TappedBytes) {
    self.inner = inner
    self.bytes = bytes
  }

  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    let read = try inner.read(into: room)
    if case .bytes(let count) = read { bytes.append(Data(room[..<count])) }
    return read
  }
}

/// The exchanges of a ``RecordingTransport`` in the order in which they began.
final class RecordingBook: Sendable {
  private let entries = Locked<[TappedExchange?]>([])

  /// The exchanges that have ended, except those that are not recorded.
  var ended: [TappedExchange] { entries.withLock { $0.compactMap { $0 } } }

  /// Reserves a position for an exchange that begins, and returns the position.
  func begin() -> Int {
    entries.withLock { entries in
      entries.append(nil)
      return entries.count - 1
    }
  }

  /// Stores an exchange that has ended at its reserved position. If `exchange` is nil, the exchange is not recorded.
  func end(_ number: Int, _ exchange: TappedExchange?) {
    entries.withLock { $0[number] = exchange }
  }
}

/// An exchange as it was sent and received, before secrets are masked.
struct TappedExchange: Sendable {
  let exchange: RecordedExchange
  let isTooLarge: Bool
}
