import ErrandHTTP
import Testing

@testable import ErrandURLSession

/// The progress reports of the transport on URLSession.
struct SessionProgressTests {
  private func moment(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func `reports are 50 milliseconds apart`() {
    var progress = SessionProgress()
    let reports = stride(from: Int64(0), through: 200, by: 10).compactMap { time in
      progress.report(.download, time, total: 1_000, at: moment(time))
    }
    #expect(reports.map(\.bytes) == [0, 50, 100, 150, 200])
  }

  @Test func `a total found at the end is reported`() {
    var progress = SessionProgress()
    let first = progress.report(.download, 9, total: nil, at: moment(0))
    #expect(first == TransferProgress(.download, bytes: 9, total: nil))
    let last = progress.finish(.download, 9)
    #expect(last == TransferProgress(.download, bytes: 9, total: 9))
    let repeated = progress.finish(.download, 9)
    #expect(repeated == nil)
  }

  @Test func `a known total is reported once`() {
    var progress = SessionProgress()
    let first = progress.report(.upload, 9, total: 9, at: moment(0))
    #expect(first == TransferProgress(.upload, bytes: 9, total: 9))
    let last = progress.finish(.upload, 9)
    #expect(last == nil)
  }
}
