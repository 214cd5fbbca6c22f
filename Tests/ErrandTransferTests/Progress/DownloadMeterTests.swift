import ErrandCore
import ErrandTesting
import Testing

@testable import ErrandTransfer

struct DownloadMeterTests {
  private let reported = Recorded<TransferProgress>()

  private func meter() -> DownloadMeter { DownloadMeter { [reported] in reported.append($0) } }

  private func forward(_ bytes: Int64, _ meter: DownloadMeter) {
    meter.forward(TransferProgress(.download, bytes: bytes, total: nil))
  }

  /// Reports are infrequent: when the body breaks off, the part has more bytes than the last report said.
  @Test func `resuming is not a restart`() {
    let meter = meter()
    meter.begin(behind: 0, total: 3_000)
    forward(0, meter)
    meter.waitForHead()
    meter.begin(behind: 700, total: 3_000)
    forward(100, meter)
    meter.waitForHead()
    meter.begin(behind: 1_000, total: 3_000)
    meter.reportSideBySide(1_500)
    #expect(reported.all.map(\.bytes) == [0, 800, 1_500])
    #expect(!reported.all.contains { $0.isRestart })
  }

  @Test func `counting starts at the kept bytes`() {
    let meter = meter()
    meter.begin(behind: 700, total: 3_000)
    forward(100, meter)
    #expect(reported.all.map(\.bytes) == [700, 800])
    #expect(reported.all.map(\.isRestart) == [true, false])
  }

  @Test func `bytes of a complete part are kept bytes`() {
    let complete = meter()
    complete.finish(3_000)
    #expect(reported.all == [TransferProgress(.download, bytes: 3_000, total: 3_000, isRestart: true)])
    let fetched = meter()
    fetched.begin(behind: 0, total: nil)
    fetched.finish(3_000)
    #expect(reported.all.last == TransferProgress(.download, bytes: 3_000, total: 3_000))
  }

  @Test func `starting over is a restart`() {
    let meter = meter()
    meter.begin(behind: 0, total: 3_000)
    forward(800, meter)
    meter.begin(behind: 0, total: 2_000)
    forward(100, meter)
    #expect(reported.all.map(\.bytes) == [800, 0, 100])
    #expect(reported.all.map(\.isRestart) == [false, true, false])
    #expect(reported.all.map(\.total) == [3_000, 2_000, 2_000])
  }
}
