import Errand
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Several ranges of one file that are fetched concurrently.
struct DownloadSegmentTests {
  static let size = 9_000_001
  static let first = 1 << 20

  /// Parses `bytes=a-b`.
  private static func length(_ request: RangeRequest) -> Int? {
    let ends = request.range?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) } ?? []
    return ends.count == 2 ? ends[1] - ends[0] + 1 : nil
  }

  @Test(arguments: [2, 4, 8]) func `file is fetched in ranges`(width: Int) async throws {
    let fixture = try DownloadFixture(size: Self.size)
    let file = try await fixture.send { $0.parallel = width }.result.get()
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
    #expect(file.bytes == Int64(Self.size) && file.fetchedBytes == Int64(Self.size))
    let requests = fixture.server.requests
    // No range is smaller than 1 MiB.
    #expect(requests.count == 1 + min(width, (Self.size - Self.first) / Self.first))
    #expect(requests.first?.range == "bytes=0-1048575" && requests.first?.ifRange == nil)
    #expect(requests.dropFirst().allSatisfy { $0.ifRange == fixture.resource.entityTag && $0.status == 206 })
    #expect(requests.compactMap(Self.length).reduce(0, +) == Self.size)
    #expect(fixture.server.servedBytes <= Self.size * 11 / 10)
  }

  @Test(arguments: [0, 1, 1 << 20]) func `small file needs no ranges`(size: Int) async throws {
    let fixture = try DownloadFixture(size: size)
    _ = try await fixture.send { $0.parallel = 4 }.result.get()
    #expect(fixture.isRight())
    // An empty file has no first range (416).
    #expect(fixture.server.requests.map(\.status) == (size == 0 ? [416, 200] : [206]))
  }

  @Test func `ignored range gives one stream`() async throws {
    let fixture = try DownloadFixture(size: Self.size) { _, behaviour in behaviour.ranges = .ignored }
    _ = try await fixture.send { $0.parallel = 4 }.result.get()
    #expect(fixture.isRight())
    #expect(fixture.server.requests.map(\.status) == [200])
  }

  @Test(arguments: [RangeBehaviour.Validators.weakTag, .none, .lastModified(secondsBefore: 1)])
  func `missing strong validator gives one stream`(validators: RangeBehaviour.Validators) async throws {
    let fixture = try DownloadFixture(size: Self.size) { _, behaviour in behaviour.validators = validators }
    _ = try await fixture.send { $0.parallel = 4 }.result.get()
    #expect(fixture.isRight())
    #expect(fixture.server.requests.map(\.status) == [206, 200])
    #expect(fixture.server.requests.map(\.range) == ["bytes=0-1048575", nil])
  }

  @Test func `unknown total gives one stream`() async throws {
    let fixture = try DownloadFixture(size: Self.size) { _, behaviour in behaviour.deviation = .total(nil) }
    _ = try await fixture.send { $0.parallel = 4 }.result.get()
    #expect(fixture.isRight())
    #expect(fixture.server.requests.map(\.range) == ["bytes=0-1048575", nil])
  }

  static let deviations: [RangeDeviation] = [
    .movedPart(by: 1), .noContentRange, .twoContentRanges, .contentRange("bytes 1-2"), .total(Self.size + 1),
    .entityTag("\"other\""), .contentEncoding("gzip"), .multipart, .overrun(by: 1_000), .partAsWhole,
  ]

  /// If the first range claims to be the whole file, only a checksum can distinguish it from a short file.
  @Test(arguments: [1, 3], deviations.indices) func `wrong range ends all ranges`(number: Int, deviation: Int)
    async throws
  {
    if number == 1, case .partAsWhole = Self.deviations[deviation] { return }
    let fixture = try DownloadFixture(size: Self.size) { request, behaviour in
      if request == number { behaviour.deviation = Self.deviations[deviation] }
    }
    let outcome = await fixture.send { $0.parallel = 4 }
    if case .success = outcome.result {
      #expect(fixture.isRight() && fixture.names == ["film.bin"])
      // A stopped range may reach the server after the request for the whole file.
      #expect(fixture.server.requests.filter { $0.range == nil }.map(\.status) == [200])
    } else {
      // The first range is written by the rules of a single stream, in which a body that is too long is an error.
      #expect(number == 1 && !FileManager.default.fileExists(atPath: fixture.file.path))
    }
  }

  @Test func `new version ends all ranges`() async throws {
    let other = RangeResource(size: Self.size, seed: 2)
    let fixture = try DownloadFixture(size: Self.size) { number, behaviour in
      if number >= 4 { behaviour.resource = other }
    }
    _ = try await fixture.send { $0.parallel = 4 }.result.get()
    #expect(fixture.isRight(other))
    #expect(fixture.server.requests.contains { $0.range == nil })
  }

  @Test(arguments: [RangeBehaviour.Fault.cut(after: 300_000), .reset(after: 300_000)])
  func `interrupted range is resumed`(fault: RangeBehaviour.Fault) async throws {
    let fixture = try DownloadFixture(size: Self.size) { number, behaviour in
      if number == 3 { behaviour.fault = fault }
    }
    let file = try await fixture.send { $0.parallel = 4 }.result.get()
    #expect(fixture.isRight())
    #expect(file.fetchedBytes == Int64(Self.size))
    #expect(fixture.server.requests.count == 6)
    #expect(fixture.server.requests.allSatisfy { $0.range != nil })
    #expect(fixture.server.servedBytes <= Self.size * 11 / 10)
  }

  @Test func `shortened ranges are continued`() async throws {
    let fixture = try DownloadFixture(size: Self.size) { number, behaviour in
      if number > 1 { behaviour.deviation = .shortened(to: 700_000) }
    }
    let file = try await fixture.send { $0.parallel = 3 }.result.get()
    #expect(fixture.isRight() && file.fetchedBytes == Int64(Self.size))
  }

  @Test func `rejected ranges reduce the concurrency`() async throws {
    let fixture = try DownloadFixture(size: Self.size) { number, behaviour in
      if number == 3 || number == 4 { behaviour.fault = .status(503) }
    }
    let file = try await fixture.send { $0.parallel = 4 }.result.get()
    #expect(fixture.isRight() && file.fetchedBytes == Int64(Self.size))
    #expect(fixture.server.requests.allSatisfy { $0.range != nil })
  }

  @Test func `range obeys Retry-After`() async throws {
    let clock = ManualClock()
    let moments = Locked<[Int: MonotonicInstant]>([:])
    let fixture = try DownloadFixture(size: Self.size, configuration: DownloadFixture.configuration(clock)) {
      number, behaviour in
      moments.withLock { $0[number] = clock.now }
      if number == 3 || number == 4 { behaviour.fault = .status(429, ["Retry-After": "60"]) }
    }
    let task = Task { await fixture.send { $0.parallel = 4 } }
    let isOver = Locked(false)
    let ticking = Task {
      while !isOver.withLock({ $0 }) {
        if clock.pending > 0 { clock.advance(by: .seconds(10)) }
        await Task.yield()
      }
    }
    let outcome = await task.value
    isOver.withLock { $0 = true }
    await ticking.value
    #expect(try outcome.result.get().fetchedBytes == Int64(Self.size))
    #expect(fixture.isRight())
    let asked = moments.withLock { $0 }
    let told = try #require([3, 4].compactMap { asked[$0] }.min()).advanced(by: .seconds(60))
    #expect(asked.count > 5 && asked.allSatisfy { $0.key <= 5 || $0.value >= told })
  }

  @Test func `long Retry-After ends the ranges`() async throws {
    let fixture = try DownloadFixture(size: Self.size) { number, behaviour in
      if number > 2 { behaviour.fault = .status(429, ["Retry-After": "3600"]) }
    }
    let outcome = await fixture.send { $0.parallel = 4 }
    #expect(outcome.error?.code == .status && outcome.error?.status == 429)
    #expect(fixture.ranges.count <= 5, "no range is requested again")
    let kept = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    #expect(kept.bytes > Int64(Self.first))
  }

  @Test func `rejecting all ranges keeps the part file`() async throws {
    let fixture = try DownloadFixture(size: Self.size) { number, behaviour in
      if number > 1 { behaviour.fault = .status(503) }
    }
    let outcome = await fixture.send { $0.parallel = 4 }
    #expect(outcome.error?.code == .status)
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
    let kept = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    #expect(kept.bytes == Int64(Self.first))
  }

  // MARK: - Part files with gaps

  /// A download of eight ranges that was paused when each had some bytes.
  private func paused(_ gate: Gate) async throws -> DownloadFixture {
    let fixture = try DownloadFixture(size: 16 << 20) { number, behaviour in
      if number > 1 && number <= 9 { behaviour.fault = .stall(after: 400_000, until: gate) }
    }
    let download = fixture.client.download(fixture.request { $0.parallel = 8 })
    try await fixture.server.received(9)
    try await fixture.server.served(atLeast: Self.first + 8 * 400_000)
    await download.pause()
    await download.cancel()
    return fixture
  }

  @Test(arguments: [1, 2, 8]) func `gaps are filled`(width: Int) async throws {
    let gate = Gate()
    defer { gate.open() }
    let fixture = try await paused(gate)
    let kept = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    #expect(kept.isResumable && kept.bytes > Int64(Self.first))
    let before = fixture.server.requests.count
    let file = try await fixture.send { $0.parallel = width }.result.get()
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
    #expect(file.keptBytes == kept.bytes && file.fetchedBytes == 16 << 20 - kept.bytes)
    #expect(fixture.server.requests.dropFirst(before).allSatisfy { $0.ifRange != nil && $0.status == 206 })
    #expect(fixture.server.servedBytes <= (16 << 20) * 11 / 10 + 9 * 128 << 10)
  }

  @Test func `gaps of an old version are dropped`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let fixture = try await paused(gate)
    let other = RangeResource(size: 16 << 20, seed: 2)
    fixture.server.answer { _ in RangeBehaviour(other) }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight(other) && file.keptBytes == 0)
  }

  @Test(arguments: [1, 2, 3]) func `concurrency stays within the limit`(width: Int) async throws {
    let gate = Gate()
    defer { gate.open() }
    let fixture = try await paused(gate)
    let before = fixture.server.loopback.connectionCount
    _ = try await fixture.send { $0.parallel = width }.result.get()
    #expect(fixture.isRight())
    // There are more gaps than connections: two gaps count as one if no bytes of the range between them arrived.
    #expect(fixture.server.loopback.connectionCount - before <= width)
    #expect(fixture.server.requests.count > 9 + width)
  }

  @Test func `ranges that find no slot are fetched later`() async throws {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.admission = AdmissionLimits(perHost: 1, waiting: 0)
    let fixture = try DownloadFixture(size: Self.size, configuration: configuration)
    let file = try await fixture.send { $0.parallel = 4 }.result.get()
    #expect(fixture.isRight() && file.fetchedBytes == Int64(Self.size))
  }

  // MARK: - Progress and rate

  @Test func `progress is the sum and never decreases`() async throws {
    let clock = ManualClock()
    let fixture = try DownloadFixture(size: 40 << 20, configuration: DownloadFixture.configuration(clock))
    let request = fixture.request {
      $0.parallel = 4
      $0.bytesPerSecond = 80 << 20
    }
    let (seen, endings) = (Recorded<TransferProgress>(), Recorded<Outcome<DownloadedFile>>())
    fixture.client.start(outcomeOf: request, on: .inPlace, { endings.append($0) }, onProgress: { seen.append($0) })
    // While the clock stands still, at most the bytes of a tenth of a second arrive. No report is left out, however
    // slow this task is.
    let isOver = await eventually {
      if clock.pending > 0 { clock.advance(by: .milliseconds(50)) }
      return endings.count > 0
    }
    try #require(isOver)
    #expect(endings.all.allSatisfy { $0.error == nil })
    let reports = seen.all.filter { $0.direction == .download }
    let bytes = reports.map(\.bytes)
    #expect(bytes == bytes.sorted() && bytes.last == 40 << 20)
    #expect(reports.allSatisfy { !$0.isRestart && ($0.total == 40 << 20) })
    #expect(bytes.count > 3)
  }
}
