import ErrandCore
import ErrandSupport
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

@testable import ErrandBackground

/// The launch of the engine, which all concurrent callers share.
struct BackgroundBeginTests {
  /// A session that returns its names only after the gate has opened.
  private final class SlowSession: BackgroundSession {
    let base = ScriptedBackgroundSession()
    let begun = Recorded<Int>()
    let (asked, gate) = (Latch(), Latch())

    func begin(_ tell: @escaping @Sendable (BackgroundEvent) -> Void) {
      begun.append(1)
      base.begin(tell)
    }
    func start(_ order: BackgroundOrder) throws { try base.start(order) }
    func cancel(_ name: String) { base.cancel(name) }
    func names() async -> Set<String> {
      asked.open()
      try? await gate.wait()
      return await base.names()
    }
  }

  private func engine(
    _ session: SlowSession, in folder: TransferFolder, _ files: any TransferFiles = SystemFiles()
  ) -> BackgroundEngine<BackgroundDownloadWork> {
    BackgroundEngine(
      BackgroundDownloadWork(algorithms: [], home: "/h"), session, BackgroundFolder(path: folder("desk"), files: files)
    ) { _, _, _ in }
  }

  private func begin(_ engine: BackgroundEngine<BackgroundDownloadWork>) -> Task<APIError?, Never> {
    Task {
      do throws(APIError) {
        try await engine.begin()
        return nil
      } catch {
        return error
      }
    }
  }

  @Test func `folder below a shared folder is rejected`() async throws {
    let folder = try TransferFolder()
    let session = SlowSession()
    session.gate.open()
    defer { session.base.endProcess() }
    #expect(chmod(folder.path, 0o777) == 0)
    let error = await begin(engine(session, in: folder)).value
    #expect(error?.code == .file && error?.message.contains("Run chmod go-w on “\(folder.path)”") == true)
    #expect(folder.names.isEmpty && session.begun.all.isEmpty)
    #expect(chmod(folder.path, 0o700) == 0)
    #expect(await begin(engine(session, in: folder)).value == nil)
    #expect(folder.mode("desk") == 0o700)
  }

  @Test func `own folder is made private`() async throws {
    let folder = try TransferFolder()
    let session = SlowSession()
    session.gate.open()
    defer { session.base.endProcess() }
    #expect(mkdir(folder("desk"), 0o700) == 0 && chmod(folder("desk"), 0o777) == 0)
    #expect(await begin(engine(session, in: folder)).value == nil)
    #expect(folder.mode("desk") == 0o700)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
  func `another user's folder is rejected`() async throws {
    let folder = try TransferFolder()
    let session = SlowSession()
    #expect(mkdir(folder("desk"), 0o700) == 0 && chown(folder("desk"), 12_345, 12_345) == 0)
    let error = await begin(engine(session, in: folder)).value
    #expect(error?.code == .file && error?.message.contains("another user (user ID 12345)") == true)
    #expect(session.begun.all.isEmpty)
  }

  @Test func `callers share one launch after a failure`() async throws {
    let folder = try TransferFolder()
    let (session, faulty) = (SlowSession(), FaultyFiles())
    let engine = engine(session, in: folder, faulty)
    defer { session.base.endProcess() }
    faulty.failNext(.list, .before(1))
    #expect(await begin(engine).value?.code == .file)
    #expect(session.begun.all.isEmpty)

    let first = begin(engine)
    try await session.asked.wait()
    let (second, third) = (begin(engine), begin(engine))
    second.cancel()
    #expect(await second.value?.stage == .cancelled, "it waited")
    session.gate.open()
    #expect(await first.value == nil)
    #expect(await third.value == nil)
    #expect(session.begun.all == [1] && folder.names == ["desk"])
  }

  @Test func `response reported during the launch is accepted`() async throws {
    let folder = try TransferFolder()
    let session = SlowSession()
    #expect(mkdir(folder("desk"), 0o700) == 0)
    // The last run of the app ended after it saved the response headers, and before it moved the response file.
    try BackgroundFolder<BackgroundDownloadState>(path: folder("desk"), files: SystemFiles())
      .save(Samples.record("a", target: folder("film"), phase: BackgroundDecisionTests.cameFile))
    try session.start(BackgroundOrder(name: "a", request: HTTPRequest(url: Samples.url)))
    let engine = engine(session, in: folder)
    defer { session.base.endProcess() }
    let launch = begin(engine)
    try await session.asked.wait()
    try session.base.answer("a", .text("new"))
    session.gate.open()
    #expect(await launch.value == nil)
    session.base.report(.allReported)
    await engine.eventsHandled()
    #expect(folder.bytes("film") == Array("new".utf8) && folder.names == ["desk", "film"])
  }

  @Test func `eventsHandled() retries a failed launch`() async throws {
    let folder = try TransferFolder()
    let (session, faulty) = (SlowSession(), FaultyFiles())
    let engine = engine(session, in: folder, faulty)
    defer { session.base.endProcess() }
    faulty.failNext(.list, .before(1))
    #expect(await begin(engine).value?.code == .file)
    session.gate.open()
    let settled = Task { await engine.eventsHandled() }
    try await session.asked.wait()
    session.base.report(.allReported)
    await settled.value
    #expect(session.begun.all == [1])
  }

  @Test func `cancelled eventsHandled() does not end the next`() async throws {
    let folder = try TransferFolder()
    let session = SlowSession()
    session.gate.open()
    let engine = engine(session, in: folder)
    defer { session.base.endProcess() }
    #expect(await begin(engine).value == nil)
    for _ in 0..<2 {
      let cancelled = Task { await engine.eventsHandled() }
      cancelled.cancel()
      await cancelled.value
    }
    // This report belongs to the cancelled waits.
    session.base.report(.allReported)
    try await engine.queue.value {}
    let hasReported = Locked(false)
    let next = Task {
      await engine.eventsHandled()
      return hasReported.withLock { $0 }
    }
    for _ in 0..<1_000 { await Task.yield() }
    hasReported.withLock { $0 = true }
    session.base.report(.allReported)
    #expect(await next.value, "the wait ended before its report")
    // A report that arrives before the wait ends the wait at once.
    session.base.report(.allReported)
    try await engine.queue.value {}
    await engine.eventsHandled()
  }

  @Test func `cancelling the first caller keeps the launch`() async throws {
    let folder = try TransferFolder()
    let session = SlowSession()
    let engine = engine(session, in: folder)
    defer { session.base.endProcess() }
    let first = begin(engine)
    try await session.asked.wait()
    first.cancel()
    #expect(await first.value?.stage == .cancelled)
    let second = begin(engine)
    session.gate.open()
    #expect(await second.value == nil)
    #expect(session.begun.all == [1] && folder.names == ["desk"])
  }
}
