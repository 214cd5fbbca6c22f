import Testing

@testable import ErrandCore

struct ProgressMeterTests {
  private static func moment(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
  }

  private static func told(
    _ meter: inout ProgressMeter, _ bytes: Int64, at milliseconds: Int64, isRestart: Bool = false
  ) -> TransferProgress {
    meter.measured(
      TransferProgress(.download, bytes: bytes, total: 10_000, isRestart: isRestart), at: moment(milliseconds))
  }

  @Test func `steady stream has rate and time left`() throws {
    var meter = ProgressMeter()
    _ = Self.told(&meter, 1_000, at: 1_000)
    let report = Self.told(&meter, 2_000, at: 2_000)
    #expect(abs(try #require(report.rate) - 1_000) < 1)
    #expect(abs(try #require(report.timeLeft) / .seconds(1) - 8) < 0.01)
    #expect(!report.isRestart)
  }

  @Test func `wait before the body does not lower the rate`() throws {
    var meter = ProgressMeter()
    _ = meter.measured(TransferProgress(.upload, bytes: 0, total: 100), at: Self.moment(0))
    _ = meter.measured(TransferProgress(.upload, bytes: 100, total: 100), at: Self.moment(29_000))
    #expect(Self.told(&meter, 0, at: 30_000).rate == nil)
    let report = Self.told(&meter, 1_000, at: 31_000)
    #expect(abs(try #require(report.rate) - 1_000) < 1)
    #expect(abs(try #require(report.timeLeft) / .seconds(1) - 9) < 0.01)
  }

  @Test func `kept bytes do not raise the rate`() throws {
    var meter = ProgressMeter()
    #expect(Self.told(&meter, 5_000, at: 10, isRestart: true).rate == nil)
    let report = Self.told(&meter, 5_100, at: 1_010)
    #expect(abs(try #require(report.rate) - 100) < 1)
  }

  @Test func `fewer bytes mean a restart`() {
    var meter = ProgressMeter()
    _ = Self.told(&meter, 5_000, at: 1_000)
    #expect(Self.told(&meter, 0, at: 1_100).isRestart)
  }

  @Test func `upload and download are measured separately`() throws {
    var meter = ProgressMeter()
    _ = meter.measured(TransferProgress(.upload, bytes: 9_000, total: nil), at: Self.moment(900))
    _ = Self.told(&meter, 0, at: 1_000)
    let report = Self.told(&meter, 1_000, at: 2_000)
    #expect(abs(try #require(report.rate) - 1_000) < 1)
    #expect(!report.isRestart)
  }
}
