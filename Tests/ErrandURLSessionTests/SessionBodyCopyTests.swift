import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing
import TransportChecks

@testable import ErrandURLSession

struct SessionBodyCopyTests {
  private static func body(_ steps: [PieceSource.Step], log: PieceSource.Log = .init()) -> HTTPBody {
    .stream { flow in PieceSource(steps, log, flow, onLater: { $0.resume() }) }
  }

  private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

  /// A new, empty folder.
  private static func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "copies-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private static func files(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
  }

  @Test(arguments: [0, 1, SessionBodyCopy.mostInMemory])
  func `a short body stays in memory`(count: Int) async throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let steps: [PieceSource.Step] = count == 0 ? [] : [.later, .bytes(Self.bytes(count))]
    let copy = try await SessionBodyCopy(Self.body(steps), in: folder).made(for: CallState())
    guard case .data(let data) = copy else {
      Issue.record("\(copy)")
      return
    }
    #expect(Array(data) == Self.bytes(count))
    #expect(try Self.files(in: folder).isEmpty)
  }

  @Test func `a long body is a private file`() async throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let whole = Self.bytes(900_001)
    do {
      let body = Self.body([.bytes(Array(whole[..<300_000])), .later, .bytes(Array(whole[300_000...])), .later])
      let copy = try await SessionBodyCopy(body, in: folder).made(for: CallState())
      guard case .copy(let file) = copy else {
        Issue.record("\(copy)")
        return
      }
      #expect(copy.copiedLength == 900_001)
      #expect(try Array(Data(contentsOf: file.url)) == whole)
      let mode = try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
    // The queue that made the copy may release it after the test.
    #expect(await eventually { (try? Self.files(in: folder))?.isEmpty == true })
  }

  @Test func `a failing source leaves no file`() async throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let log = PieceSource.Log()
    let body = Self.body([.bytes(Self.bytes(600_000)), .fail], log: log)
    await #expect(throws: BodySourceFailure.self) {
      try await SessionBodyCopy(body, in: folder).made(for: CallState())
    }
    #expect(log.closed == 1)
    #expect(try Self.files(in: folder).isEmpty)
  }

  @Test func `an unusable folder is named`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "missing-\(UUID().uuidString)")
    let body = Self.body([.bytes(Self.bytes(600_000))])
    let failure = await #expect(throws: TransportFailure.self) {
      try await SessionBodyCopy(body, in: folder).made(for: CallState())
    }
    #expect(failure?.kind == .bodySource && failure?.isCertainlyNotSent == true)
    #expect(failure?.description.contains(folder.path) == true)
    #expect(failure?.description.contains("No such file or directory") == true)
  }

  @Test func `repeated resumes open the source once`() async throws {
    let log = PieceSource.Log()
    let body = HTTPBody.stream(isReplayable: true) { flow in
      PieceSource([.later, .bytes([1])], log, flow, onLater: { flow in for _ in 0..<50 { flow.resume() } })
    }
    for _ in 0..<100 { _ = try await SessionBodyCopy(body).made(for: CallState()) }
    #expect(log.opened == 100)
  }

  @Test func `a stop ends an endless body`() async throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let call = CallState()
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let body = HTTPBody.stream { _ in
      Endless(onRead: { if $0 == 3 { call.stop(.cancelled) } }, onEnd: { end.finish() })
    }
    await #expect(throws: CallState.Stopped.self) {
      try await SessionBodyCopy(body, in: folder).made(for: call)
    }
    for await _ in ends {}
    #expect(try Self.files(in: folder).isEmpty)
  }

  /// Reports the number of its reads, and when it is released.
  private final class Endless: BodySource {
    private let onRead: (Int) -> Void
    private let onEnd: () -> Void
    private var reads = 0

    init(onRead: @escaping (Int) -> Void, onEnd: @escaping () -> Void) {
      self.onRead = onRead
      self.onEnd = onEnd
    }

    deinit { onEnd() }

    func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
      reads += 1
      onRead(reads)
      return .bytes(room.count)
    }
  }
}
