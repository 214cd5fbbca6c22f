import ErrandCore
import ErrandSupport
import StoreSamples
import Testing

@testable import ErrandCache

/// When entries were last used, as the disk has it.
@Suite(.timeLimit(.minutes(1))) struct StoreUseTests {
  private let folder = TestFolder()

  @Test func `use while uses are written counts`() async {
    let mailbox = StoreMailbox(StoreSettings(folder: folder.url, limit: 1 << 20, entryLimit: nil, sealing: nil))
    mailbox.write {
      for path in ["/a", "/b"] { $0.put(Sample.entry(path)) }
    }
    let uses = await withCheckedContinuation { continuation in
      mailbox.barrier { worker in
        try? worker?.using { index throws(SQLiteFailure) in try index.database.run("UPDATE entry SET last_use = 1") }
        _ = worker?.find(Sample.key("/a")) { _ in 0 }
        mailbox.read { _ = $0?.find(Sample.key("/b")) { _ in 0 } }
        // Writes the first use, and lets the read in meanwhile.
        _ = worker?.list()
        continuation.resume(returning: worker?.list()?.map(\.lastUse.milliseconds) ?? [])
      }
    }
    #expect(uses.count == 2 && !uses.contains(1))
    mailbox.close()
    await mailbox.ended()
  }
}
