import Errand
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// Pieces that arrive while the part file is not ready: a transport may deliver a few more pieces after a pause.
struct DownloadHeldPiecesTests {
  private static let resource = RangeResource(size: 1_500_000)

  /// The disk reserves space while the first two pieces arrive, and writes them while the third arrives. All three are
  /// written, and the body continues with the rest.
  @Test func `held pieces keep their order`() async throws {
    let play = Play(Self.resource, ends: [10_000, 650_000, 650_001, 900_000, 1_500_000])
    let isFirst = Locked(true)
    let files = HookedFiles { _, operation, _ in
      let isFirstWrite =
        operation == .write
        && isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
      if operation == .reserve { return play.isEmptying.open(thenPass: play.hasGivenTwo) ? nil : EIO }
      if isFirstWrite { return play.isWriting.open(thenPass: play.hasGivenThree) ? nil : EIO }
      return nil
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(play)
    let fixture = try DownloadFixture(files: files, configuration: configuration)
    let file = try await fixture.client.send(FileDownload("/film", .to(fixture.file)))
    #expect(fixture.isRight(Self.resource) && fixture.names == ["film.bin"])
    #expect(file.fetchedBytes == Int64(Self.resource.size))
    #expect(play.answers.all == [false, false, false, true, true])
  }

  /// The write of the held pieces fails: the body ends, and no later piece is written.
  @Test func `failed write of held pieces is reported`() async throws {
    let play = Play(Self.resource, ends: [10_000, 650_000, 650_001, 900_000, 1_500_000])
    let files = HookedFiles { _, operation, _ in
      if operation == .reserve { return play.isEmptying.open(thenPass: play.hasGivenTwo) ? nil : EIO }
      if operation == .write { return play.isWriting.open(thenPass: play.hasGivenThree) ? ENOSPC : EIO }
      return nil
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(play)
    let fixture = try DownloadFixture(files: files, configuration: configuration)
    let outcome = await fixture.client.outcome(of: FileDownload("/film", .to(fixture.file)))
    #expect(outcome.error?.code == .diskFull)
    #expect(play.answers.all == [false, false, false])
    #expect(files.openCount == 0 && !fixture.names.contains("film.bin"))
  }
}

/// A transport that delivers a body piece by piece on its own thread, and the first three pieces even though it is
/// paused.
private final class Play: Transport {
  /// An event that another thread waits for.
  final class Moment: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Returns false if the event does not occur in time.
    func pass() -> Bool { semaphore.wait(timeout: .now() + .seconds(30)) == .success }

    func open(thenPass other: Moment) -> Bool {
      open()
      return other.pass()
    }
  }

  let isEmptying = Moment()
  let hasGivenTwo = Moment()
  let isWriting = Moment()
  let hasGivenThree = Moment()
  /// The sink's response to each piece.
  let answers = Recorded<Bool>()
  private let mayGoOn = Moment()
  private let resource: RangeResource
  private let ends: [Int]

  init(_ resource: RangeResource, ends: [Int]) {
    self.resource = resource
    self.ends = ends
  }

  var capabilities: TransportCapabilities { [.bodySink] }

  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try self.pour(exchange) }) }
    }
  }

  private func pour(_ exchange: Exchange) throws -> HTTPResponse {
    let head = ResponseHead(
      status: 200, fields: ["Content-Length": "\(resource.size)", "ETag": "\(resource.entityTag)"])
    guard let sink = exchange.sink,
      case .sink = try sink.begin(head, flow: BodyFlow { [mayGoOn] in mayGoOn.open() })
    else { throw TransportFailure(.other, "the body has no sink") }
    try check(isEmptying.pass())
    try give(0, sink)
    try give(1, sink)
    try check(hasGivenTwo.open(thenPass: isWriting))
    try give(2, sink)
    try check(hasGivenThree.open(thenPass: mayGoOn))
    for number in 3..<ends.count { try give(number, sink) }
    try sink.end()
    return HTTPResponse(head: head, url: exchange.request.url)
  }

  private func give(_ number: Int, _ sink: any BodySink) throws {
    let piece = resource.bytes(in: (number == 0 ? 0 : ends[number - 1])..<ends[number])
    answers.append(try piece.withUnsafeBytes { try sink.write($0) })
  }

  private func check(_ isInTime: Bool) throws {
    if !isInTime { throw TransportFailure(.other, "the scenario does not continue") }
  }
}
