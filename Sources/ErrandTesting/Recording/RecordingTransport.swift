public import ErrandCore
import ErrandSupport
public import Foundation

/// Wraps another transport and records its exchanges, so that a ``ReplayTransport`` can respond from them.
///
/// ```swift
/// let recorder = RecordingTransport(EngineTransport(), mask: RecordingMask(paths: ["user.email"]))
/// configuration.transport = .own(recorder)
/// …
/// try recorder.save(to: "Recordings/users.json")
/// ```
///
/// The recorder passes the exchanges on unchanged. It has the capabilities of the wrapped transport, and forwards every
/// pause, cancellation and error.
///
/// The exchanges are kept in memory until `save(to:)` writes them all at once. Only then does the recorder know all
/// secret values that it must mask. Also, the file of an earlier recording stays unchanged if the run fails before
/// `save(to:)`.
///
/// The recorded exchanges are in the order in which they began. These exchanges are omitted:
/// - exchanges that are still running;
/// - exchanges that ended by cancellation, by the deadline or by a local failure, such as an error of a sink;
/// - exchanges whose request body is a file that changed before the recorder read the file. If the wrapped transport
///   sends the body as a file, the recorder reads the file after the exchange.
public final class RecordingTransport: Transport {
  private let base: any Transport
  private let mask: RecordingMask
  private let bodyLimit: Int
  /// The exchanges in the order in which they began; nil for those that are running or not recorded.
  private let exchanges = Locked<[UnmaskedExchange?]>([])

  /// Creates a recording transport.
  /// - Parameters:
  ///   - base: The transport to wrap. It sends the requests.
  ///   - mask: The values to mask, in addition to the values whose names suggest a secret.
  ///   - bodyLimit: The maximum number of bytes to record of a body. A longer body is transferred normally, but
  ///     ``recording()`` and `save(to:)` then throw an error that names the request.
  public init(_ base: any Transport, mask: RecordingMask = RecordingMask(), bodyLimit: Int = 8 << 20) {
    self.base = base
    self.mask = mask
    self.bodyLimit = bodyLimit
    LeakCheck.current?.watch(self, "RecordingTransport")
  }

  /// The capabilities of the wrapped transport.
  public var capabilities: TransportCapabilities { base.capabilities }
  /// The content codings of the wrapped transport.
  public var contentCodings: [String] { base.contentCodings }
  /// The timers of the wrapped transport.
  public var timers: (any Timers)? { base.timers }
  /// The identity of the wrapped transport.
  public var identity: String? { base.identity }

  /// Sends the request with the wrapped transport and records the outcome.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let number = exchanges.withLock { exchanges in
      exchanges.append(nil)
      return exchanges.count - 1
    }
    let copier = ExchangeCopier(exchange, bodyLimit: bodyLimit, base.capabilities)
    do {
      let response = try await base.send(copier.exchange)
      let recorded = copier.recorded(response)
      exchanges.withLock { $0[number] = recorded }
      return response
    } catch {
      if let recorded = (error as? TransportFailure).flatMap(copier.recorded) {
        exchanges.withLock { $0[number] = recorded }
      }
      throw error
    }
  }

  /// The exchanges recorded so far, with secrets masked.
  /// - Throws: ``RecordingError/tooLarge(request:limit:)``.
  public func recording() throws(RecordingError) -> Recording {
    let ended = exchanges.withLock { $0.compactMap { $0 } }
    if let large = ended.first(where: \.isTooLarge) {
      throw RecordingError.tooLarge(request: large.exchange.request.description, limit: bodyLimit)
    }
    return Masking.recording(of: ended.map(\.exchange), by: mask)
  }

  /// Writes the exchanges recorded so far to a file, with secrets masked. An existing file is replaced.
  /// - Throws: ``RecordingError``.
  public func save(to path: String) throws(RecordingError) { try recording().save(to: path) }

  /// Writes the exchanges recorded so far to a file, with secrets masked. An existing file is replaced.
  /// - Throws: ``RecordingError``.
  public func save(to file: URL) throws(RecordingError) { try recording().save(to: file) }
}

/// Copies the bodies and the informational responses of one exchange while they are transferred.
struct ExchangeCopier: Sendable {
  /// The exchange that is passed to the wrapped transport. Its body and its sink copy the transferred bytes.
  let exchange: Exchange
  private let original: HTTPRequest
  private let sent: CopiedBytes
  private let received: CopiedBytes
  private let sink: CopyingSink?
  private let informational = Recorded<ResponseHead>()
  /// The body of the request if the wrapped transport must send the body as a file; otherwise nil.
  private let file: HTTPBody?

  /// - Parameter capabilities: The capabilities of the wrapped transport.
  init(_ exchange: Exchange, bodyLimit: Int, _ capabilities: TransportCapabilities) {
    original = exchange.request
    file = exchange.request.body.flatMap { $0.isSentAsFile(by: capabilities) ? $0 : nil }
    sent = CopiedBytes(limit: bodyLimit)
    received = CopiedBytes(limit: bodyLimit)
    sink = exchange.sink.map { [received] in CopyingSink($0, received) }
    var copied = exchange
    copied.sink = sink
    if file == nil { copied.request.body = exchange.request.body.map { [sent] in Self.copied($0, sent) } }
    copied.onInformational = { [informational] head in
      informational.append(head)
      exchange.onInformational?(head)
    }
    self.exchange = copied
  }

  /// The recorded exchange for a response; nil if the file with the request body can no longer be read.
  func recorded(_ response: HTTPResponse) -> UnmaskedExchange? {
    var answer = ScriptedAnswer()
    answer.head = response.head
    answer.trailers = response.trailers
    // If the body was not written to the sink, the response contains the body.
    if sink?.head == nil { received.append(response.body) }
    return unmasked(answer)
  }

  /// The recorded exchange for a failure; nil for local failures, which do not depend on the server.
  func recorded(_ failure: TransportFailure) -> UnmaskedExchange? {
    if [.sink, .bodySource, .bodyChanged, .unsupported].contains(failure.kind) { return nil }
    var answer = ScriptedAnswer()
    if let head = sink?.head {
      answer.head = head
      answer.breakage = failure
    } else {
      answer.failure = failure
    }
    return unmasked(answer)
  }

  private func unmasked(_ answer: ScriptedAnswer) -> UnmaskedExchange? {
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
    return UnmaskedExchange(
      exchange: RecordedExchange(request: request, answer: answer), isTooLarge: isTooLarge)
  }

  /// Returns a request body whose bytes are copied while they are sent. A body in memory is returned unchanged.
  private static func copied(_ body: HTTPBody, _ bytes: CopiedBytes) -> HTTPBody {
    guard body.data == nil else { return body }
    let copied = HTTPBody.stream(length: body.length, isReplayable: body.isReplayable) { flow in
      let source = try body.open(flow)
      bytes.restart()
      return CopyingSource(source, bytes)
    }
    return body.expectsContinue ? copied.expectingContinue() : copied
  }

  /// Reads the file that was sent as the request body. Throws if the file has changed since the request was built.
  private static func read(_ file: HTTPBody, _ bytes: CopiedBytes) throws {
    let source = CopyingSource(try file.open(BodyFlow {}), bytes)
    bytes.restart()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
    defer { buffer.deallocate() }
    while !bytes.isTooLarge, case .bytes = try source.read(into: buffer) {}
  }
}

/// The copied bytes of a body, up to a maximum number.
final class CopiedBytes: Sendable {
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

  /// Appends bytes. If the number of bytes exceeds the limit, all bytes are dropped and `isTooLarge` is true.
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

private final class CopyingSink: ForwardingSink {
  let inner: any BodySink
  private let bytes: CopiedBytes
  private let begunHead = Locked<ResponseHead?>(nil)

  init(_ inner: any BodySink, _ bytes: CopiedBytes) {
    self.inner = inner
    self.bytes = bytes
  }

  /// The response headers if the body is written to the sink; otherwise nil.
  var head: ResponseHead? { begunHead.withLock { $0 } }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    let disposition = try inner.begin(head, flow: flow)
    if disposition == .sink { begunHead.withLock { $0 = head } }
    return disposition
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    bytes.append(Data(piece))
    return try inner.write(piece)
  }
}

private final class CopyingSource: BodySource {
  private let inner: any BodySource
  private let bytes: CopiedBytes

  init(_ inner: any BodySource, _ bytes: CopiedBytes) {
    self.inner = inner
    self.bytes = bytes
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    let read = try inner.read(into: buffer)
    if case .bytes(let count) = read { bytes.append(Data(buffer[..<count])) }
    return read
  }
}

/// An exchange as it was sent and received, before secrets are masked.
struct UnmaskedExchange: Sendable {
  let exchange: RecordedExchange
  let isTooLarge: Bool
}

extension HTTPBody {
  /// Whether a transport must send the body as a file. This is true if the body is a file and the transport cannot send
  /// a body that is read during the transfer.
  func isSentAsFile(by capabilities: TransportCapabilities) -> Bool {
    filePath != nil && !capabilities.contains(.bodySource)
  }
}
