@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TransportChecks
import TestSupport

/// How the rest of the pipeline treats bodies that are read while they are sent.
struct UploadLineTests {
  private static func body(_ isStreamed: Bool) -> RequestBody {
    isStreamed ? PieceSource.body([.bytes([1])], isReplayable: true) : .bytes(Data([1]))
  }

  @Test(arguments: [false, true])
  func `streamed body is not cached`(isStreamed: Bool) async throws {
    let bench = ScriptedClient(answer: { _ in .text("fresh") })
    let upload = Upload(Self.body(isStreamed)) { $0.cache = .lifetime(.seconds(60)) }
    _ = try await bench.client.send(upload)
    _ = try await bench.client.send(upload)
    #expect(bench.transport.requests.count == (isStreamed ? 2 : 1))
    let only = await bench.client.outcome(of: upload, options: .cache(.cacheOnly))
    #expect(only.error?.cacheMiss == (isStreamed ? .disabled : nil))
  }

  @Test(arguments: [false, true])
  func `streamed body is not joined`(isStreamed: Bool) async throws {
    let latch = Latch()
    let bench = ScriptedClient(answer: { _ in
      try await latch.wait()
      return .text("once")
    })
    let upload = Upload(Self.body(isStreamed)) { $0.joining = .always }
    async let first = bench.client.send(upload)
    await latch.reached()
    async let second = bench.client.send(upload)
    if isStreamed { await latch.reached(2) } else { #expect(await eventually { bench.client.joins == 2 }) }
    latch.open()
    #expect(try await [first, second] == ["once", "once"])
    #expect(bench.transport.requests.count == (isStreamed ? 2 : 1))
  }

  @Test func `cache targets refuse a streamed body`() async throws {
    let bench = ScriptedClient(answer: { _ in .text("fresh") })
    let error = try #require(await bench.failure(of: Aliased()))
    #expect(error.stage == .build && error.code == .unsupported && error.message.contains("streamed body"))
  }

  @Test func `missing upload capability is named`() async throws {
    struct Plain: Transport {
      func send(_ exchange: Exchange) async throws -> HTTPResponse {
        HTTPResponse(head: ResponseHead(status: 200), url: exchange.request.url)
      }
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(Plain())
    let client = APIClient(configuration)
    let error = try await failure(client, Upload(Self.body(true)))
    #expect(error.stage == .build && error.code == .unsupported && error.message.contains("bodySource"))
    #expect(try await client.send(Upload(Self.body(false))) == "")
  }

  @Test func `curl command names the file`() async throws {
    let folder = try UploadFolder()
    let file = try folder.file("it's.txt", Data("x".utf8))
    let bench = ScriptedClient()
    var commands: [String] = []
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    let seen = Recorded<HTTPRequest>()
    configuration.interceptors.exchanges = [
      Around { request, _, next in
        seen.append(request)
        return try await next(request)
      }
    ]
    configuration.transport = .own(bench.transport)
    let client = APIClient(configuration)
    for body in [RequestBody.file(file), PieceSource.body([.bytes([1])], length: 1), PieceSource.body([.bytes([1])])] {
      _ = try await client.send(Upload(body))
      commands.append(try #require(seen.takeFirst()).curlCommand())
    }
    let path = file.path.replacing("'", with: #"'\''"#)
    #expect(commands[0].hasSuffix("--data-binary '@\(path)'"))
    #expect(commands[1].hasSuffix("1 bytes'") && commands[2].hasSuffix("a stream of unknown length'"))
  }

  @Test func `scripted transport records the body`() async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f", UploadFolder.bytes(50_000))
    let bench = ScriptedClient()
    #expect(try await bench.sent(Upload(.file(file)))?.body?.data == UploadFolder.bytes(50_000))
    let late = PieceSource.body(
      [.later, .bytes([1]), .later], onLater: { flow in Thread.detachNewThread { flow.resume() } })
    #expect(try await bench.sent(Upload(late))?.body?.data == Data([1]))
    let error = await bench.failure(of: Upload(PieceSource.body([.fail])))
    #expect(error?.transportKind == .bodySource && error?.cause is PieceSource.Fault)
  }

  @Test func `HTTP body is one word large`() {
    #expect(MemoryLayout<HTTPBody?>.size == MemoryLayout<Int>.size)
  }

  // MARK: - Progress

  @Test(arguments: [true, false])
  func `progress counts sent bytes`(isKnown: Bool) async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f", UploadFolder.bytes(900_000))
    let server = try LoopbackServer { _ in .ok("taken") }
    let seen = Recorded<TransferProgress>()
    let body = isKnown ? RequestBody.file(file) : PieceSource.body([.bytes(Array(UploadFolder.bytes(900_000)))])
    let ended = Latch()
    APIClient(baseURL: server.url).start(
      Upload(body), on: .queue(DispatchQueue(label: "upload.test")), onSuccess: { _ in ended.open() },
      onFailure: { _ in ended.open() }, onProgress: { seen.append($0) })
    try await ended.wait()
    let uploads = seen.all.filter { $0.direction == .upload }
    #expect(uploads.last?.bytes == 900_000 && uploads.last?.total == 900_000)
    // A source of unknown length may pause after its last byte, so that only the last report can contain the total.
    let most = isKnown ? 899_999 : 900_000
    #expect(uploads.dropLast().allSatisfy { $0.total == (isKnown ? 900_000 : nil) && $0.bytes <= most })
    #expect(uploads.map(\.bytes) == uploads.map(\.bytes).sorted())
  }

  @Test(arguments: [nil, .upload, .download] as [TransferProgress.Direction?])
  func `progress stream reports during the call`(direction: TransferProgress.Direction?) async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f", UploadFolder.bytes(900_000))
    let server = try LoopbackServer { _ in .ok("taken") }
    let progress = ProgressStream(direction)
    let client = APIClient(baseURL: server.url)
    async let outcome = client.outcome(of: Upload(.file(file)), options: CallOptions(accessories: [progress]))
    var reports: [TransferProgress] = []
    for await report in progress.reports { reports.append(report) }
    #expect(await outcome.error == nil)
    #expect(direction == nil || reports.allSatisfy { $0.direction == direction })
    if direction == .upload {
      #expect(reports.last?.bytes == 900_000 && reports.last?.total == 900_000)
      #expect(reports.map(\.bytes) == reports.map(\.bytes).sorted())
    }
  }

  @Test func `progress stream ends with a failed call`() async throws {
    let progress = ProgressStream()
    let client = APIClient(baseURL: "no url")
    async let outcome = client.outcome(of: Upload(.text("x")), options: CallOptions(accessories: [progress]))
    for await report in progress.reports { Issue.record("\(report)") }
    #expect(await outcome.error?.code == .invalidURL)
  }

  @Test func `progress excludes unsent bytes`() async throws {
    let server = try LoopbackServer(.uploads(keeping: 0, .never)) { _ in .status(413) }
    let seen = Recorded<TransferProgress>()
    let length = Int64(1 << 30)
    let ended = Latch()
    APIClient(baseURL: server.url).start(
      Upload(.stream(length: length) { _ in EndlessSource(.init()) }), on: .queue(DispatchQueue(label: "upload.test")),
      onSuccess: { _ in ended.open() }, onFailure: { _ in ended.open() }, onProgress: { seen.append($0) })
    try await ended.wait()
    let uploads = seen.all.filter { $0.direction == .upload }
    #expect(uploads.allSatisfy { $0.bytes < length && $0.total == length })
  }
}

private struct Aliased: APIRequest {
  var path: Path { "/get" }
  var cache: CachePolicy {
    .inherited.stored(as: [Upload(PieceSource.body([.bytes([1])])) { $0.cache = .lifetime(.seconds(9)) }])
  }
  typealias Response = String
}

extension APIClient {
  /// The calls that wait for shared exchanges.
  fileprivate var joins: Int { services.joining.counts.waiting }
}
