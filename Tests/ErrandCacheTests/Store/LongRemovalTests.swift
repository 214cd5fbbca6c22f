import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// Removals of so many entries that they need several transactions.
struct LongRemovalTests {
  private let folder = TestFolder()
  private static let count = 2_000

  /// A mailbox whose store has `count` entries to remove and one entry to keep.
  private func filled() async -> StoreMailbox {
    let mailbox = StoreMailbox(StoreSettings(folder: folder.url, limit: 64 << 20, entryLimit: nil, sealing: nil))
    mailbox.write { writes in
      for index in 0..<Self.count {
        let head = Sample.head(host: "a.example.com", tag: "feed", groups: "\"news\"")
        writes.put(Sample.entry("/\(index)", account: "ada", head: head))
      }
      writes.put(Sample.entry("/kept", account: "eve", head: Sample.head(time: 9_000)))
    }
    await Self.waitForWrites(mailbox)
    return mailbox
  }

  private static func waitForWrites(_ mailbox: StoreMailbox) async {
    await withCheckedContinuation { continuation in mailbox.barrier { _ in continuation.resume() } }
  }

  /// Looks up entries after each transaction of a removal, until the removal has ended.
  private static func look(_ mailbox: StoreMailbox, _ found: Recorded<String>) {
    mailbox.read { worker in
      guard let worker, found.all.last != "end" else { return }
      let removed = Sample.key("/\(found.all.count * 97 % count)", account: "ada")
      if case .found = worker.find(removed, { _ in 0 }) { found.append("removed entry") }
      if case .found = worker.find(Sample.key("/kept", account: "eve"), { _ in 0 }) { found.append("kept entry") }
      look(mailbox, found)
    }
  }

  private static let removals: [CacheSelection] = [
    .account(Sample.digest("account ada")), .host("a.example.com"), .tag("feed"),
    .olderThan(WallTime(milliseconds: 5_000)), .group(CacheGroup(origin: "https://a.example.com", name: "news")),
  ]

  @Test(arguments: removals) func `lookups run between removal slices`(_ selection: CacheSelection) async {
    let mailbox = await filled()
    let found = Recorded<String>()
    let isSliced = await withCheckedContinuation { continuation in
      mailbox.barrier { worker in
        mailbox.write { $0.remove(selection) }
        Self.look(mailbox, found)
        let isSliced = try? worker?.using { index throws(SQLiteFailure) in
          try worker?.removeInSlices(.remove(selection), from: index, keepingLog: true)
        }
        found.append("end")
        continuation.resume(returning: isSliced == true)
      }
    }
    // Lookups run after each slice that is read and after each transaction.
    #expect(isSliced && found.all.count >= Self.count / 1_024 + Self.count / 256)
    #expect(Set(found.all) == ["kept entry", "end"])
    let rest = await withCheckedContinuation { continuation in
      mailbox.barrier { continuation.resume(returning: $0?.list()?.map(\.key) ?? []) }
    }
    #expect(rest == [Sample.key("/kept", account: "eve")])
    #expect(folder.files.allSatisfy { !$0.lastPathComponent.hasPrefix("errand-cache.owed-") })
    mailbox.close()
    await mailbox.ended()
  }

  @Test func `countless removals keep other entries`() async {
    let hold = StoreHold()
    let store = SQLiteStore(
      folder: folder.url, limit: 64 << 20, sealing: BodySealing(seal: { hold.pass($0) }, open: { $0 }))
    for index in 0..<50 { store.put(Sample.entry("/safe/\(index)")) }
    for path in ["/0", "/69999"] { store.put(Sample.entry(path)) }
    await store.flush()
    store.put(Sample.entry("/hold", body: "hold"))
    await hold.reached()
    for index in 0..<70_000 { store.remove(.target(Sample.key("/\(index)").target)) }
    hold.open()
    for _ in 0..<2 {
      for path in ["/0", "/69999"] { #expect(await store.isMissing(Sample.key(path))) }
      await store.flush()
    }
    for index in 0..<50 { #expect(await store.text(Sample.key("/safe/\(index)")) != nil) }
    #expect(await store.removals(call: CallState(), patience: .zero) == .done)
    await store.close()
  }

  @Test func `killed long removal is continued`() async throws {
    var kills = 0
    for _ in 0..<30 where kills < 2 {
      let folder = TestFolder()
      let crasher = try Crasher("purge", folder.url, limit: 64 << 20, number: 8_000)
      var said: [String] = []
      for await line in crasher.lines {
        said.append(line)
        break
      }
      await crasher.kill()
      // On a busy machine the removal may end before the process sees that it is recorded.
      try #require(said == ["recorded"] || said == ["done"])
      if said == ["recorded"] { kills += 1 }
      let store = SQLiteStore(folder: folder.url, limit: 64 << 20)
      #expect(await store.list().map(\.head.label.host) == ["kept.example.com"])
      await store.close()
    }
    #expect(kills > 0)
  }
}
