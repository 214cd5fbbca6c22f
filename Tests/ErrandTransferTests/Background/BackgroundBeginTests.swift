import ErrandCore
import ErrandTesting
import Foundation
import Testing

@testable import ErrandTransfer

/// The beginning, which serves all who ask for it.
@Suite(.timeLimit(.minutes(1))) struct BackgroundBeginTests {
  /// Says what it has under way only once the gate is open.
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

  @Test func `one beginning after a failed one serves all, and a cancel ends one wait`() async throws {
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

  @Test func `who waits for all tries again`() async throws {
    let folder = try TransferFolder()
    let (session, faulty) = (SlowSession(), FaultyFiles())
    let engine = engine(session, in: folder, faulty)
    defer { session.base.endProcess() }
    faulty.failNext(.list, .before(1))
    #expect(await begin(engine).value?.code == .file)
    session.gate.open()
    let settled = Task { await engine.settled() }
    try await session.asked.wait()
    session.base.tell(.allTold)
    await settled.value
    #expect(session.begun.all == [1])
  }

  @Test func `cancel of the first who asks does not end the beginning`() async throws {
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
