import ErrandCore
import Foundation
import Testing

@testable import ErrandTransfer

/// Several bodies that share a rate limit.
struct BandwidthTests {
  private static let rate: Int64 = 1_000_000
  private let start = MonotonicInstant(nanoseconds: 0)

  /// Simulates bodies that always have a piece ready; returns the number of bytes of each.
  private func play(_ pieces: [Int64], for time: Duration, _ bandwidth: Bandwidth) -> [Int64] {
    var counts = pieces.map { _ in Int64(0) }
    var ready = pieces.map { _ in start }
    let end = start.advanced(by: time)
    while let next = ready.indices.min(by: { ready[$0] < ready[$1] }), ready[next] < end {
      counts[next] += pieces[next]
      ready[next] = ready[next].advanced(by: bandwidth.take(pieces[next], at: ready[next]) ?? .zero)
    }
    return counts
  }

  private static let pieces: [[Int64]] = [
    [50_000], [50_000, 50_000], [1_000, 400_000], [16_000, 16_000, 16_000, 16_000, 64_000],
  ]

  @Test(arguments: pieces)
  func `the sum keeps to the rate`(pieces: [Int64]) {
    let sum = play(pieces, for: .seconds(20), Bandwidth(bytesPerSecond: Self.rate)).reduce(0, +)
    // The burst is a tenth of a second's bytes, and each body may have one piece that it has not waited for.
    #expect(sum >= 20 * Self.rate)
    #expect(sum <= 20 * Self.rate + Self.rate / 10 + pieces.reduce(0, +))
  }

  @Test func `equal pieces get equal shares`() {
    let counts = play([20_000, 20_000, 20_000], for: .seconds(20), Bandwidth(bytesPerSecond: Self.rate))
    let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
    // No body waits before the burst is used up.
    #expect(most - least <= 20_000 + Self.rate / 10)
  }

  @Test func `a single download gets the whole rate`() {
    let bandwidth = Bandwidth(bytesPerSecond: Self.rate)
    _ = play([20_000, 20_000], for: .seconds(1), bandwidth)
    let later = start.advanced(by: .seconds(2))
    #expect(bandwidth.take(Self.rate + Self.rate / 10, at: later) == .seconds(1))
  }

  @Test(arguments: [0, -5] as [Int64]) func `a rate below 1 becomes 1`(rate: Int64) {
    let bandwidth = Bandwidth(bytesPerSecond: rate)
    #expect(bandwidth.bytesPerSecond == 1)
    #expect(bandwidth.take(11, at: start) == .seconds(10))
  }

  @Test func `unordered times are counted once`() {
    let bandwidth = Bandwidth(bytesPerSecond: 1_000)
    let late = start.advanced(by: .seconds(10))
    _ = bandwidth.take(100, at: start)
    #expect(bandwidth.take(1_100, at: late) == .seconds(1))
    #expect(bandwidth.take(0, at: start) == .seconds(1))
    #expect(bandwidth.take(0, at: late) == .seconds(1))
  }

  // MARK: - Together with the download's own limit

  struct Row: Sendable {
    let own: Int64?
    let shared: Int64?
    let pause: Duration?
  }

  private static let rows = [
    Row(own: nil, shared: nil, pause: nil), Row(own: 1_000, shared: nil, pause: .seconds(1)),
    Row(own: nil, shared: 1_000, pause: .seconds(1)), Row(own: 1_000, shared: 500, pause: .milliseconds(2_100)),
    Row(own: 500, shared: 1_000, pause: .milliseconds(2_100)), Row(own: 1_000_000, shared: 1_000_000, pause: nil),
  ]

  @Test(arguments: rows) func `both limits apply`(row: Row) {
    var download = Download.to(.temporaryDirectory)
    download.bytesPerSecond = row.own
    download.bandwidth = row.shared.map { Bandwidth(bytesPerSecond: $0) }
    var throttle = DownloadThrottle(download, at: start)
    #expect(!throttle.isHolding(at: start))
    #expect(throttle.take(1_100, at: start) == row.pause)
    #expect(throttle.isHolding(at: start) == (row.pause != nil))
    #expect(!throttle.isHolding(at: start.advanced(by: row.pause ?? .zero)))
  }

  /// Bodies of one download after each other, each with the bytes of `bytes`, in pieces of 64 KiB.
  private func time(of bodies: Int, bytes: Int64, rate: Int64) -> Duration {
    var now = start
    var download = Download.to(.temporaryDirectory)
    download.bytesPerSecond = rate
    for body in 0..<bodies {
      var throttle = DownloadThrottle(download, at: now, continues: body > 0)
      var rest = bytes / Int64(bodies)
      while rest > 0 {
        let piece = min(rest, 65_536)
        rest -= piece
        now = now.advanced(by: throttle.take(piece, at: now) ?? .zero)
      }
    }
    return start.duration(to: now)
  }

  @Test(arguments: [1, 2, 5, 10]) func `pauses add no burst`(bodies: Int) {
    let time = time(of: bodies, bytes: 20 << 20, rate: 8 << 20)
    #expect(time >= .milliseconds(2_399) && time <= .milliseconds(2_501), "\(time)")
  }

  @Test func `continued download starts with an empty bucket`() {
    var download = Download.to(.temporaryDirectory)
    download.bytesPerSecond = 1_000
    var throttle = DownloadThrottle(download, at: start, continues: true)
    #expect(throttle.take(100, at: start) == .milliseconds(100))
    #expect(throttle.take(200, at: start.advanced(by: .seconds(5))) == .milliseconds(100))
  }

  @Test func `a download ignores another one's pause`() {
    let bandwidth = Bandwidth(bytesPerSecond: 1_000)
    var download = Download.to(.temporaryDirectory)
    download.bandwidth = bandwidth
    var (one, two) = (DownloadThrottle(download, at: start), DownloadThrottle(download, at: start))
    #expect(one.take(1_100, at: start) == .seconds(1))
    #expect(two.take(1_000, at: start) == .seconds(2))
    let later = start.advanced(by: .seconds(1))
    #expect(!one.isHolding(at: later) && two.isHolding(at: later))
  }
}
