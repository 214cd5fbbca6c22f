import ErrandHTTP
import ErrandTesting
import Testing

struct ProgressReporterTests {
  private let told = Recorded<TransferProgress>()

  private func progress() -> ProgressReporter { ProgressReporter { [told] in told.append($0) } }

  private func moment(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func `reports are 50 milliseconds apart`() {
    var progress = progress()
    for time in stride(from: Int64(0), through: 200, by: 10) {
      progress.report(.download, time, total: 1_000, at: moment(time))
    }
    #expect(told.all.map(\.bytes) == [0, 50, 100, 150, 200])
  }

  @Test func `a total found at the end is reported`() {
    var progress = progress()
    progress.report(.upload, 1, total: nil, at: moment(0))
    progress.report(.upload, 9, total: nil, at: moment(60))
    progress.finish(.upload, 9)
    progress.finish(.upload, 9)
    #expect(told.all.map(\.bytes) == [1, 9, 9] && told.all.map(\.total) == [nil, nil, 9])
  }

  @Test func `an early number is reported later`() {
    var progress = progress()
    progress.report(.download, 1, total: 9, at: moment(0))
    #expect(progress.nextReport == nil)
    progress.report(.download, 2, total: 9, at: moment(10))
    progress.report(.download, 3, total: 9, at: moment(20))
    #expect(progress.nextReport == moment(50))
    progress.reportWaiting(at: moment(40))
    progress.reportWaiting(at: moment(50))
    #expect(told.all.map(\.bytes) == [1, 3] && progress.nextReport == nil)
  }

  @Test func `last report is immediate and single`() {
    var progress = progress()
    progress.report(.download, 1, total: 1_000, at: moment(0))
    progress.report(.download, 1_000, total: 1_000, at: moment(1))
    progress.report(.download, 1_000, total: 1_000, at: moment(90))
    progress.finish(.download, 1_000)
    #expect(told.all.map(\.bytes) == [1, 1_000])
  }

  @Test func `finish reports withheld progress`() {
    var progress = progress()
    progress.report(.download, 1, total: nil, at: moment(0))
    progress.report(.download, 2, total: nil, at: moment(1))
    progress.finish(.download, 2)
    #expect(told.all.map(\.bytes) == [1, 2] && told.all.map(\.total) == [nil, 2])
  }

  @Test func `upload and download report separately`() {
    var progress = progress()
    progress.report(.upload, 7, total: nil, at: moment(0))
    progress.report(.download, 1, total: nil, at: moment(1))
    progress.report(.upload, 8, total: nil, at: moment(2))
    #expect(told.all.map(\.direction) == [.upload, .download])
  }
}
