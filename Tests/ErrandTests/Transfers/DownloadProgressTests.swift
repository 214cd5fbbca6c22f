import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Progress reports and rate limits.
struct DownloadProgressTests {
  /// Downloads and returns the progress reports in order.
  private static func told(
    _ fixture: DownloadFixture, _ change: (inout Download) -> Void = { _ in }
  ) async -> [TransferProgress] {
    let all = Locked<[TransferProgress]>([])
    await withCheckedContinuation { continuation in
      fixture.client.start(
        fixture.request(change), on: .inPlace, onSuccess: { _ in continuation.resume() },
        onFailure: { _ in continuation.resume() },
        onProgress: { progress in all.withLock { $0.append(progress) } })
    }
    return all.withLock { $0 }.filter { $0.direction == .download }
  }

  @Test func `group counts only fetched bytes`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    let kept = try fixture.keptBytes
    let seen = Recorded<GroupProgress>()
    _ = try await fixture.client.batch(
      [fixture.request()], options: GroupOptions(onProgress: { seen.append($0) }))
    #expect(fixture.isRight() && kept > 0)
    #expect(seen.all.last?.bytes == Int64(DownloadFixture.size - kept), "\(seen.all.last?.bytes ?? -1), kept \(kept)")
  }

  @Test func `group counts no bytes of a complete part`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    // All remaining bytes arrive in three chunks with 27 bytes of framing, but the empty last chunk is missing.
    fixture.answer { _, behaviour in
      behaviour.framing = .chunked
      behaviour.fault = .cut(after: 2_000_027)
    }
    _ = await fixture.send { $0.takeUps = 0 }
    fixture.answer()
    let seen = Recorded<GroupProgress>()
    _ = try await fixture.client.batch(
      [fixture.request()], options: GroupOptions(onProgress: { seen.append($0) }))
    #expect(fixture.isRight() && fixture.server.requests.last?.status == 416)
    #expect(seen.all.last?.bytes == 0)
  }

  @Test func `progress never decreases`() async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number < 4 { behaviour.fault = .cut(after: 700_000) }
    }
    let told = await Self.told(fixture)
    #expect(fixture.isRight())
    #expect(zip(told, told.dropFirst()).allSatisfy { $0.bytes <= $1.bytes })
    #expect(!told.contains { $0.isRestart })
    #expect(told.last?.bytes == 3_000_000 && told.last?.total == 3_000_000)
    #expect(told.filter { $0.bytes == 3_000_000 }.count == 1)
  }

  @Test func `kept bytes count from the start`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    let told = await Self.told(fixture)
    #expect(fixture.isRight())
    #expect(told.allSatisfy { $0.bytes >= 1_000_000 && $0.total == 3_000_000 })
    #expect(told.last?.bytes == 3_000_000)
  }

  @Test func `failed download is never complete`() async throws {
    let fixture = try DownloadFixture { $1.fault = .cut(after: 2_999_999) }
    let told = await Self.told(fixture) { $0.takeUps = 0 }
    #expect(told.allSatisfy { $0.bytes < 3_000_000 })
  }

  @Test func `unknown total is known at the end`() async throws {
    let fixture = try DownloadFixture { $1.framing = .chunked }
    let told = await Self.told(fixture)
    #expect(told.dropLast().allSatisfy { $0.total == nil })
    #expect(told.last?.total == 3_000_000 && told.last?.bytes == 3_000_000)
  }

  @Test func `rate-limited download succeeds`() async throws {
    let fixture = try DownloadFixture(size: 1_000_000)
    let start = ContinuousClock.now
    _ = try await fixture.send { $0.bytesPerSecond = 2_000_000 }.result.get()
    #expect(fixture.isRight())
    #expect(ContinuousClock.now - start >= .milliseconds(380))
  }

  @Test(arguments: [1, 3]) func `downloads may share a rate limit`(parallel: Int) async throws {
    let clock = ManualClock()
    let fixture = try DownloadFixture(configuration: DownloadFixture.configuration(clock))
    let bandwidth = Bandwidth(bytesPerSecond: 1_000_000)
    let calls = ["one.bin", "two.bin"].map { name in
      var download = Download.to(fixture.place(name))
      download.bandwidth = bandwidth
      download.parallel = parallel
      return fixture.client.download(FileDownload(fixture.server.url, download))
    }
    var elapsed = Duration.zero
    while true {
      let left = calls.count { $0.phase != .ended }
      if left == 0 { break }
      let isHeld = await eventually { clock.pending >= left || calls.count { $0.phase != .ended } < left }
      try #require(isHeld)
      clock.advance(by: .milliseconds(20))
      elapsed += .milliseconds(20)
    }
    for (call, name) in zip(calls, ["one.bin", "two.bin"]) {
      #expect(try await call.value().bytes == 3_000_000)
      #expect(try fixture.resource.firstDifference(Data(contentsOf: fixture.place(name))) == nil)
    }
    // The bytes of a tenth of a second are free, and so is the last piece of each connection.
    #expect(elapsed >= .seconds(4), "\(elapsed)")
  }

  @Test func `download limited to one byte can be cancelled`() async throws {
    let fixture = try DownloadFixture()
    let task = Task { await fixture.send { $0.bytesPerSecond = 1 } }
    try await fixture.server.received(1)
    task.cancel()
    #expect(await task.value.error?.code == .cancelled)
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
  }
}
