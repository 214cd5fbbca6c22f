import Errand
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// A part file whose bytes and record must belong to the same version of the file.
struct DownloadVersionTests {
  /// The server has a new version, but its name is taken, so the bytes of the old version stay. The time of a commit
  /// passes while the body of the new version is paused.
  @Test func `taken name never mixes versions`() async throws {
    let clock = ManualClock()
    let server = Versions(clock)
    let files = HookedFiles { _, operation, _ in
      // The first call after the response headers of the new version arrived: the check of the name.
      operation == .status
        && server.isChecking.withLock { isChecking in
          defer { isChecking = false }
          return isChecking
        } && !server.hasGivenPiece.pass() ? EIO : nil
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(server)
    configuration.timers = clock
    let fixture = try DownloadFixture(files: files, configuration: configuration)
    var download = Download.into(fixture.folder, named: .fromServer)
    download.takeUps = 0
    let request = FileDownload("/film", download)
    #expect(await fixture.client.outcome(of: request).error?.transportKind == .truncated)
    try Data("another".utf8).write(to: fixture.place("book.txt"))
    #expect(await fixture.client.outcome(of: request).error?.code == .fileExists)
    #expect(try fixture.keptBytes == Versions.kept)
    try FileManager.default.removeItem(at: fixture.place("book.txt"))
    _ = try await fixture.client.send(request)
    #expect(fixture.names == ["book.txt"])
    #expect(try Data(contentsOf: fixture.place("book.txt")) == Versions.new.bytes(in: 0..<Versions.new.size))
    #expect(server.validators.all == [nil, Versions.old.entityTag, Versions.old.entityTag])
  }
}

/// A transport that sends a part of the old version, then one piece of the new version, then what is asked for.
private final class Versions: Transport {
  /// An event that another thread waits for.
  final class Moment: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Returns false if the event does not occur in time.
    func pass() -> Bool { semaphore.wait(timeout: .now() + .seconds(30)) == .success }
  }

  static let old = RangeResource(size: 1_500_000, seed: 1)
  static let new = RangeResource(size: 1_500_000, seed: 2)
  /// The number of bytes of the old version that arrive.
  static let kept = 600_000

  /// Whether the next check of a file is that of the new version's name.
  let isChecking = Locked(false)
  let hasGivenPiece = Moment()
  /// The `If-Range` fields of the requests.
  let validators = Recorded<String?>()
  private let clock: ManualClock

  init(_ clock: ManualClock) { self.clock = clock }

  var capabilities: TransportCapabilities { [.bodySink] }

  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    validators.append(exchange.request.fields.values(of: "If-Range").first)
    let number = validators.all.count
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try self.answer(exchange, number) }) }
    }
  }

  private func answer(_ exchange: Exchange, _ number: Int) throws -> HTTPResponse {
    let mayGoOn = Moment()
    switch number {
    case 1:
      let (_, sink) = try begin(exchange, Self.old, from: 0, mayGoOn)
      _ = try give(Self.old, 0..<Self.kept, sink)
      throw TransportFailure(.truncated, "the body is cut")
    case 2:
      isChecking.withLock { $0 = true }
      let (_, sink) = try begin(exchange, Self.new, from: 0, mayGoOn)
      let continues = try give(Self.new, 0..<1_000, sink)
      hasGivenPiece.open()
      // The body continues when the check of the name has failed. Then the time of the commit passes.
      guard !continues, mayGoOn.pass() else { throw TransportFailure(.other, "the body is not paused") }
      clock.advance(by: .seconds(1))
      throw TransportFailure(.reset, "the body is cut")
    default:
      let isNew = exchange.request.fields.values(of: "If-Range").first == Self.new.entityTag
      let start = isNew ? Self.kept : 0
      let (head, sink) = try begin(exchange, Self.new, from: start, mayGoOn)
      _ = try give(Self.new, start..<Self.new.size, sink)
      try sink.end()
      return HTTPResponse(head: head, url: exchange.request.url)
    }
  }

  private func begin(
    _ exchange: Exchange, _ resource: RangeResource, from start: Int, _ mayGoOn: Moment
  ) throws -> (head: ResponseHead, sink: any BodySink) {
    var fields: HTTPFields = [
      "Content-Length": "\(resource.size - start)", "ETag": "\(resource.entityTag)",
      "Content-Disposition": "attachment; filename=\"book.txt\"",
    ]
    if start > 0 {
      fields.append(HTTPField("Content-Range", "bytes \(start)-\(resource.size - 1)/\(resource.size)"))
    }
    let head = ResponseHead(status: start > 0 ? 206 : 200, fields: fields)
    guard let sink = exchange.sink,
      case .sink = try sink.begin(head, flow: BodyFlow { mayGoOn.open() })
    else { throw TransportFailure(.other, "the body has no sink") }
    return (head, sink)
  }

  private func give(_ resource: RangeResource, _ range: Range<Int>, _ sink: any BodySink) throws -> Bool {
    try resource.bytes(in: range).withUnsafeBytes { try sink.write($0) }
  }
}
