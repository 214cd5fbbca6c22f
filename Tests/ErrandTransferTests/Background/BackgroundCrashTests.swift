import ErrandCore
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

@testable import ErrandBackground

/// A background download whose process dies, or whose disk fails, at any file system call.
struct BackgroundCrashTests {
  private static let calls = 1...60

  /// A running download whose target has an older file.
  private struct Scene {
    let folder: TransferFolder
    let session = ScriptedBackgroundSession()
    let desk: String
    let record: BackgroundDownloadState

    init(replaces: Bool = true) throws {
      folder = try TransferFolder()
      desk = folder("desk")
      try FileManager.default.createDirectory(atPath: desk, withIntermediateDirectories: true)
      try folder.put(Array("old".utf8), "film")
      record = Samples.record("a", target: folder("film"), replaces: replaces)
      try BackgroundFolder<BackgroundDownloadState>(path: desk, files: SystemFiles()).save(record)
      try session.start(BackgroundOrder(name: "a", request: HTTPRequest(url: Samples.url)))
    }

    func engine(
      _ files: any TransferFiles, _ onEnd: @escaping @Sendable (BackgroundDownload.Ending) async -> Void
    ) -> BackgroundEngine<BackgroundDownloadWork> {
      let work = BackgroundDownloadWork(algorithms: [], home: "/h")
      return BackgroundEngine(work, session, BackgroundFolder(path: desk, files: files)) { id, tag, result in
        await onEnd(.init(id: id, tag: tag, result: result))
      }
    }

    /// One run of the app. Returns the reported ends.
    func run(_ files: any TransferFiles, _ happening: () throws -> Void) async throws -> [BackgroundDownload.Ending] {
      let reported = Recorded<BackgroundDownload.Ending>()
      let engine = engine(files) { reported.append($0) }
      defer { session.endProcess() }
      do {
        try await engine.begin()
      } catch {
        return []
      }
      try happening()
      session.report(.allReported)
      await engine.eventsHandled()
      return reported.all
    }
  }

  @Test(arguments: calls) func `a crash at any call reports one end`(turn: Int) async throws {
    let scene = try Scene()
    let dying = FaultyFiles(failing: turn, .death)
    let before = try await scene.run(dying) { try scene.session.answer("a", .text("new")) }
    if turn == Self.calls.upperBound { #expect(dying.calls < turn, "the table is too short") }
    scene.session.lose("a")
    let after = try await scene.run(SystemFiles()) {}
    #expect(after.count <= 1)
    let ending = try #require(after.first ?? before.first)
    switch ending.result {
    case .success: #expect(scene.folder.bytes("film") == Array("new".utf8), "at call \(turn)")
    case .failure(let error):
      #expect(error.code == .interrupted, "at call \(turn): \(error)")
      #expect(scene.folder.bytes("film") == Array("old".utf8), "at call \(turn)")
    }
    #expect(scene.folder.names == ["desk", "film"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: scene.desk).isEmpty, "at call \(turn)")
  }

  @Test(arguments: calls) func `any file failure is reported once`(turn: Int) async throws {
    let scene = try Scene()
    let faulty = FaultyFiles(failing: turn, .before(5))
    let reported = try await scene.run(faulty) { try scene.session.answer("a", .text("new")) }
    #expect(faulty.openFiles.isEmpty)
    // If the records cannot be read, the transfers keep running.
    guard !reported.isEmpty else { return #expect(scene.session.running == ["a"]) }
    #expect(reported.count == 1)
    let isNew = reported.first.map { if case .success = $0.result { true } else { false } }
    #expect(scene.folder.bytes("film") == Array((isNew == true ? "new" : "old").utf8), "at call \(turn)")
  }

  @Test(arguments: calls) func `a file that was not placed is no success`(turn: Int) async throws {
    let scene = try Scene(replaces: false)
    let faulty = FaultyFiles(failing: turn, .before(28))
    let (isReported, gate) = (Latch(), Latch())
    defer { gate.open() }
    let engine = scene.engine(faulty) { _ in
      isReported.open()
      // The process ends before this call returns, so the next run reports the end again.
      try? await gate.wait()
    }
    if (try? await engine.begin()) != nil {
      try scene.session.answer("a", .text("new"))
      try await isReported.wait()
    }
    if turn == Self.calls.upperBound { #expect(faulty.calls < turn, "the table is too short") }
    scene.session.endProcess()
    scene.session.lose("a")
    let reported = try await scene.run(SystemFiles()) {}
    let ending = try #require(reported.first)
    let isSuccess = if case .success = ending.result { true } else { false }
    #expect(!isSuccess && scene.folder.bytes("film") == Array("old".utf8), "at call \(turn)")
  }

  @Test func `unreadable records are read again later`() async throws {
    let scene = try Scene()
    let faulty = FaultyFiles()
    faulty.failNext(.open, .before(1))
    let engine = scene.engine(faulty) { _ in }
    let error = await #expect(throws: APIError.self) { try await engine.begin() }
    #expect(error?.code == .file && scene.session.running == ["a"])
    try await engine.begin()
    #expect(engine.running.map(\.id) == ["a"])
    scene.session.endProcess()
  }
}
