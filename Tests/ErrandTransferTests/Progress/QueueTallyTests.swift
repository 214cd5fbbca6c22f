import ErrandCore
import Testing

@testable import ErrandTransfer

struct QueueTallyTests {
  private final class Download: Sendable {}

  private let first = Download()
  private let second = Download()

  private func report(_ bytes: Int64, of total: Int64?) -> TransferProgress {
    TransferProgress(.download, bytes: bytes, total: total)
  }

  /// A tally of two downloads.
  private var tally: QueueTally {
    var tally = QueueTally()
    tally.add(ObjectIdentifier(first))
    tally.add(ObjectIdentifier(second))
    return tally
  }

  @Test func `new queue has no progress`() {
    let progress = QueueTally().progress
    #expect(progress == DownloadQueueProgress(finished: 0, total: 0, bytes: 0, totalBytes: 0))
    #expect(progress.fraction == nil)
  }

  @Test func `total needs every length`() {
    var tally = tally
    tally.report(ObjectIdentifier(first), report(3, of: 10))
    #expect(tally.progress == DownloadQueueProgress(finished: 0, total: 2, bytes: 3, totalBytes: nil))
    tally.report(ObjectIdentifier(second), report(1, of: 5))
    #expect(tally.progress == DownloadQueueProgress(finished: 0, total: 2, bytes: 4, totalBytes: 15))
  }

  @Test func `last report of each download counts`() {
    var tally = tally
    for bytes: Int64 in [7, 2] { tally.report(ObjectIdentifier(first), report(bytes, of: nil)) }
    #expect(tally.progress.bytes == 2)
  }

  @Test func `ended download counts with its file`() {
    var tally = tally
    tally.report(ObjectIdentifier(first), report(3, of: 10))
    tally.end(ObjectIdentifier(first), bytes: 10)
    #expect(tally.progress == DownloadQueueProgress(finished: 1, total: 2, bytes: 10, totalBytes: nil))
    #expect(tally.progress.fraction == 0.5)
  }

  @Test func `failed download counts with its bytes`() {
    var tally = tally
    tally.report(ObjectIdentifier(first), report(3, of: 10))
    tally.end(ObjectIdentifier(first), bytes: nil)
    tally.end(ObjectIdentifier(second), bytes: 5)
    #expect(tally.progress == DownloadQueueProgress(finished: 2, total: 2, bytes: 8, totalBytes: 8))
  }

  @Test func `second end and late report are ignored`() {
    var tally = tally
    for _ in 0..<2 { tally.end(ObjectIdentifier(first), bytes: 10) }
    tally.report(ObjectIdentifier(first), report(3, of: 4))
    #expect(tally.progress == DownloadQueueProgress(finished: 1, total: 2, bytes: 10, totalBytes: nil))
  }

  @Test func `sums of huge lengths do not overflow`() {
    var tally = tally
    for download in [first, second] { tally.report(ObjectIdentifier(download), report(.max, of: .max)) }
    #expect(tally.progress.bytes == .max && tally.progress.totalBytes == .max)
  }
}
