import ErrandHTTP
import Testing

struct ProgressFeedTests {
  private let feed = ProgressFeed()

  private func progress(
    _ bytes: Int64, _ direction: TransferProgress.Direction = .download, isRestart: Bool = false
  ) -> TransferProgress {
    TransferProgress(direction, bytes: bytes, total: 1_000, isRestart: isRestart)
  }

  @Test func `a slow reader gets the newest report`() async {
    for bytes: Int64 in [1, 2, 3] { feed.yield(progress(bytes)) }
    feed.finish()
    var all: [TransferProgress] = []
    for await report in feed.reports { all.append(report) }
    #expect(all == [progress(3)])
  }

  @Test func `a missed restart is not lost`() async {
    var reports = feed.reports.makeAsyncIterator()
    feed.yield(progress(500))
    #expect(await reports.next() == progress(500))
    feed.yield(progress(0, isRestart: true))
    feed.yield(progress(10))
    #expect(await reports.next() == progress(10, isRestart: true))
    feed.yield(progress(20))
    #expect(await reports.next() == progress(20))
  }

  @Test func `fewer bytes are a restart`() async {
    var reports = feed.reports.makeAsyncIterator()
    feed.yield(progress(500))
    feed.yield(progress(0))
    #expect(await reports.next() == progress(0, isRestart: true))
    feed.yield(progress(0))
    #expect(await reports.next() == progress(0))
  }

  @Test func `directions restart separately`() async {
    var reports = feed.reports.makeAsyncIterator()
    feed.yield(progress(500, .upload))
    feed.yield(progress(0, .upload))
    feed.yield(progress(100))
    #expect(await reports.next() == progress(100))
    feed.yield(progress(200, .upload))
    #expect(await reports.next() == progress(200, .upload, isRestart: true))
  }
}
