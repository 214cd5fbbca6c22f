import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Downloads that wait for each other.
struct DownloadQueueTests {
  private func request(_ fixture: DownloadFixture, _ number: Int) -> FileDownload {
    FileDownload(fixture.server.url, .to(fixture.folder.appending(path: "\(number).bin")))
  }

  private func isWhole(_ fixture: DownloadFixture, _ number: Int) -> Bool {
    let data = try? Data(contentsOf: fixture.folder.appending(path: "\(number).bin"))
    return data.map { $0.count == DownloadFixture.size && fixture.resource.has($0, at: 0) } ?? false
  }

  @Test func `queue runs a limited number at once`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { _, behaviour in behaviour.fault = .stall(after: 1_000, until: gate) }
    let queue = DownloadQueue(fixture.client, width: 2)
    let downloads = (0..<6).map { queue.add(request(fixture, $0)) }
    try await fixture.server.received(2)
    #expect(downloads.map(\.phase) == [.running, .running, .queued, .queued, .queued, .queued])
    #expect(fixture.server.requests.count == 2)
    gate.open()
    for download in downloads { _ = try await download.value() }
    #expect((0..<6).allSatisfy { isWhole(fixture, $0) })
    #expect(await eventually { queue.downloads.isEmpty })
  }

  @Test func `all downloads pause and resume`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      if number <= 2 { behaviour.fault = .stall(after: 500_000, until: gate) }
    }
    let queue = DownloadQueue(fixture.client, width: 2)
    let downloads = (0..<4).map { queue.add(request(fixture, $0)) }
    try await fixture.server.received(2)
    await queue.pauseAll()
    #expect(downloads.map(\.phase) == [.paused, .paused, .paused, .paused])
    #expect(await eventually { fixture.client.running.isEmpty })
    #expect(fixture.server.requests.count == 2, "no queued download starts while others are paused")
    queue.resumeAll()
    for download in downloads { _ = try await download.value() }
    #expect((0..<4).allSatisfy { isWhole(fixture, $0) })
    gate.open()
  }

  @Test func `cancelling all leaves nothing`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { _, behaviour in behaviour.fault = .stall(after: 500_000, until: gate) }
    let queue = DownloadQueue(fixture.client, width: 2)
    let downloads = (0..<4).map { queue.add(request(fixture, $0)) }
    try await fixture.server.received(2)
    await queue.cancelAll(keepingParts: false)
    #expect(downloads.allSatisfy { $0.phase == .ended })
    #expect(fixture.names.isEmpty)
    #expect(queue.downloads.isEmpty)
    gate.open()
  }

  @Test func `failure frees its slot`() async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .status(503) }
    }
    let queue = DownloadQueue(fixture.client, width: 1)
    let downloads = (0..<2).map { queue.add(request(fixture, $0)) }
    await #expect(throws: APIError.self) { try await downloads[0].value() }
    #expect(try await downloads[1].value().bytes == Int64(DownloadFixture.size))
  }

  @Test func `progress covers all downloads`() async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 2 { behaviour.fault = .status(503) }
    }
    let queue = DownloadQueue(fixture.client, width: 1)
    for number in 0..<3 { queue.add(request(fixture, number)) }
    var last: DownloadQueueProgress?
    for await progress in queue.progress { last = progress }
    let size = Int64(DownloadFixture.size)
    #expect(last?.finished == 3 && last?.total == 3 && last?.fraction == 1)
    #expect(last?.bytes == 2 * size && last?.totalBytes == 2 * size)
    // No download is left, so another stream finishes after its first report.
    var reports: [DownloadQueueProgress] = []
    for await progress in queue.progress { reports.append(progress) }
    #expect(reports.count == 1 && reports.first == last)
  }

  @Test func `progress counts waiting downloads`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { _, behaviour in behaviour.fault = .stall(after: 1_000, until: gate) }
    let queue = DownloadQueue(fixture.client, width: 1)
    let downloads = (0..<2).map { queue.add(request(fixture, $0)) }
    try await fixture.server.received(1)
    var reports = queue.progress.makeAsyncIterator()
    let report = await reports.next()
    let progress = try #require(report)
    #expect(progress.finished == 0 && progress.total == 2 && progress.totalBytes == nil)
    gate.open()
    for download in downloads { _ = try await download.value() }
  }

  @Test func `queued download can be paused`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { _, behaviour in behaviour.fault = .stall(after: 1_000, until: gate) }
    let queue = DownloadQueue(fixture.client, width: 1)
    let downloads = (0..<3).map { queue.add(request(fixture, $0)) }
    await downloads[1].pause()
    gate.open()
    _ = try await downloads[0].value()
    _ = try await downloads[2].value()
    #expect(downloads[1].phase == .paused)
    downloads[1].resume()
    _ = try await downloads[1].value()
    #expect(isWhole(fixture, 1))
  }
}
