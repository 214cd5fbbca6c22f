@testable import ErrandCore
import Testing

/// Whether the server of an exchange that the deadline has cut off counts as failed.
struct CutOffExchangeTests {
  /// Returns whether a server that was silent for some time has failed. The times are in milliseconds.
  private func isFailure(after time: Int?, of total: Int?, bodyLength: Int64? = 0, hasFirstByte: Bool = false) -> Bool {
    let exchange = CutOffExchange(
      time: time.map { .milliseconds($0) }, totalTimeout: total.map { .milliseconds($0) }, hasFirstByte: hasFirstByte,
      bodyLength: bodyLength)
    return exchange.isFailureOfServer
  }

  @Test(
    arguments: [
      (999, 120_000, false), (1_000, 120_000, true), (999, nil, false), (1_000, nil, true), (999, 2_000, false),
      (1_000, 2_000, true), (499, 1_000, false), (500, 1_000, true), (5, 1_000, false), (0, 1_000, false),
      (0, nil, false), (nil, 1_000, false), (nil, nil, false),
    ] as [(Int?, Int?, Bool)])
  func `silent server needs a fair time`(_ time: Int?, _ total: Int?, _ isFailed: Bool) {
    #expect(isFailure(after: time, of: total) == isFailed)
  }

  @Test func `server with a first byte has not failed`() {
    #expect(!isFailure(after: 60_000, of: 120_000, hasFirstByte: true))
  }

  @Test(arguments: [(0, true), (65_536, true), (65_537, false), (nil, false)] as [(Int64?, Bool)])
  func `long upload is not silence`(_ length: Int64?, _ isFailed: Bool) {
    #expect(isFailure(after: 60_000, of: 120_000, bodyLength: length) == isFailed)
  }
}
