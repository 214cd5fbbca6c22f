import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Processes that die during a download, and two processes that download the same file.
@Suite(.serialized) struct DownloadCrashTests {
  /// The number of processes that are killed: `ERRAND_DOWNLOAD_KILLS`, or 30.
  private static let kills = ProcessInfo.processInfo.environment["ERRAND_DOWNLOAD_KILLS"].flatMap(Int.init) ?? 30

  /// A size for which a kill costs less than a tenth, because at most 8 MiB or a twelfth may be missing on the disk.
  private static func size(using random: inout some RandomNumberGenerator) -> Int {
    Int.random(in: 100_000_000...130_000_000, using: &random)
  }

  @Test func `kill at any moment is resumed`() async throws {
    var random = SystemRandomNumberGenerator()
    var (kills, served, wanted) = (0, 0, 0)
    while kills < Self.kills {
      let size = Self.size(using: &random)
      let fixture = try DownloadFixture(size: size)
      try fixture.putOld()
      wanted += size
      let process = try DownloadProcess(fixture.server.url, fixture.file)
      // Between the first and the last byte, or at the end while the file gets its name.
      let moment = Int.random(in: 0...(size + size / 10), using: &random)
      try await fixture.server.served(atLeast: min(moment, size))
      let ending = await process.kill()
      if ending == .killed { kills += 1 }
      #expect(ending == .killed || ending == .done)
      #expect(fixture.isOld || fixture.isRight(), "wrong file after a kill at \(moment) of \(size)")
      if fixture.isOld {
        // The length of the part file is the received size; bytes that are not committed are fetched again.
        let (came, kept) = (fixture.partBytes, try fixture.keptBytes)
        #expect(Double(came + size - kept) <= Double(size) * 1.1, "\(came) received and \(kept) kept of \(size)")
        #expect(try await DownloadProcess(fixture.server.url, fixture.file).finish() == .done)
        #expect(kept == size || fixture.server.requests.contains { $0.servedRange == kept..<size })
      }
      #expect(fixture.isRight() && fixture.names == ["film.bin"], "wrong file of \(size)")
      served += fixture.server.servedBytes
    }
    #expect(Double(served) <= Double(wanted) * 1.1, "\(served) bytes were served for \(wanted), with \(kills) kills")
  }

  /// Kills a download, changes the file on the server, and downloads it again, each time over a number of connections.
  private static func expectOneVersion(seed: UInt64, parallel: Int, then again: Int) async throws {
    var random = SystemRandomNumberGenerator()
    let fixture = try DownloadFixture(size: 30_000_000)
    let process = try DownloadProcess(fixture.server.url, fixture.file, parallel: parallel)
    try await fixture.server.served(atLeast: Int.random(in: 1...30_000_000, using: &random))
    _ = await process.kill()
    #expect(fixture.isRight() || !fixture.names.contains("film.bin"))
    let other = RangeResource(size: 30_000_000, seed: seed)
    let isHonest = Bool.random(using: &random)
    fixture.answer {
      $1.resource = other
      if !isHonest { $1.ifRange = .ignored }
    }
    let ending = try await DownloadProcess(fixture.server.url, fixture.file, parallel: again).finish()
    #expect(ending == .done && fixture.isRight(other))
  }

  @Test func `kill and change never mix versions`() async throws {
    for seed in 2..<UInt64(2 + max(Self.kills / 3, 10)) {
      try await Self.expectOneVersion(seed: seed, parallel: 1, then: 1)
    }
  }

  @Test func `kill during ranges is resumed`() async throws {
    var random = SystemRandomNumberGenerator()
    var (kills, gaps, served, wanted) = (0, 0, 0, 0)
    while kills < max(Self.kills / 5, 4) {
      // Four connections buffer more bytes that left the server and never arrive.
      let size = 2 * Self.size(using: &random)
      let fixture = try DownloadFixture(size: size)
      try fixture.putOld()
      wanted += size
      let process = try DownloadProcess(fixture.server.url, fixture.file, parallel: 4)
      let moment = Int.random(in: 0...(size + size / 10), using: &random)
      try await fixture.server.served(atLeast: min(moment, size))
      let ending = await process.kill()
      if ending == .killed { kills += 1 }
      #expect(ending == .killed || ending == .done)
      #expect(fixture.isOld || fixture.isRight(), "wrong file after a kill at \(moment) of \(size)")
      if fixture.isOld {
        // A later download, with one stream or several, fills the gaps.
        let (kept, requests) = (try fixture.keptBytes, fixture.server.requests.count)
        let parallel = Bool.random(using: &random) ? 1 : 4
        let done = try await fixture.send { $0.parallel = parallel }.result.get()
        #expect(Int(done.keptBytes) == kept && Int(done.fetchedBytes) == size - kept)
        if fixture.server.requests.count - requests > 1 { gaps += 1 }
      }
      #expect(fixture.isRight() && fixture.names == ["film.bin"], "wrong file of \(size)")
      served += fixture.server.servedBytes
    }
    #expect(gaps > 0)
    // The buffers of the system hold more than these bytes of four connections that left the server and never arrive.
    served -= kills * 4 * (2 << 20)
    #expect(Double(served) <= Double(wanted) * 1.1, "\(served) bytes were served for \(wanted), with \(kills) kills")
  }

  @Test func `kill during ranges never mixes versions`() async throws {
    for seed in 2..<UInt64(2 + max(Self.kills / 6, 4)) {
      try await Self.expectOneVersion(seed: seed, parallel: 4, then: Bool.random() ? 1 : 4)
    }
  }

  @Test(arguments: [1, 4]) func `kill during an nginx download is resumed`(parallel: Int) async throws {
    var random = SystemRandomNumberGenerator()
    let resource = RangeResource(size: Self.size(using: &random))
    let size = resource.size
    let nginx = try NginxDownload("ERRAND_NGINX")
    try nginx.serve(resource)
    var kills = 0
    while kills < max(Self.kills / 5, 4) {
      let process = try DownloadProcess(nginx.url, nginx.file, parallel: parallel)
      let moment = Int.random(in: 1...size, using: &random)
      #expect(await eventually { nginx.partBytes >= moment || nginx.names.contains("film.bin") })
      let ending = await process.kill()
      #expect(ending == .killed || ending == .done)
      if ending == .killed { kills += 1 }
      if !nginx.names.contains("film.bin") {
        let (came, kept, before) = (nginx.partBytes, try nginx.keptBytes, nginx.seen.count)
        // The length of a part file with gaps is not the received size.
        if parallel == 1 {
          #expect(Double(came + size - kept) <= Double(size) * 1.1, "\(came) received and \(kept) kept of \(size)")
        }
        let done = try await nginx.client().send(nginx.request { $0.parallel = parallel })
        #expect(Int(done.keptBytes) == kept && done.fetchedBytes == done.bytes - done.keptBytes)
        let again = nginx.seen.dropFirst(before)
        #expect(kept == 0 || again.allSatisfy { $0.status == 206 })
        if parallel == 1, (1..<size).contains(kept) { #expect(again.map(\.range) == ["bytes=\(kept)-"]) }
      }
      #expect(nginx.holds(resource) && nginx.names == ["film.bin"], "wrong file after a kill at \(moment)")
      try FileManager.default.removeItem(at: nginx.file)
    }
  }

  @Test func `two processes share one file safely`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { $1.fault = .stall(after: 2_000_000, until: gate) }
    let first = try DownloadProcess(fixture.server.url, fixture.file)
    try await gate.reached()
    let second = try DownloadProcess(fixture.server.url, fixture.file)
    #expect(await second.finish() == .busy)
    #expect(await fixture.send().error?.code == .busy)
    gate.open()
    #expect(await first.finish() == .done)
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
  }

  @Test func `lock ends with its process`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .stall(after: 2_000_000, until: gate) }
    }
    let process = try DownloadProcess(fixture.server.url, fixture.file)
    try await gate.reached()
    #expect(await process.kill() == .killed)
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
  }

  @Test(arguments: [(7 << 20, 1, 1), (10_000, 1, 1), (3_000_000, 4, 3)])
  func `stalled body is committed by timer`(came: Int, parallel: Int, bodies: Int) async throws {
    let gate = Gate()
    let fixture = try DownloadFixture(size: 64 << 20) { $1.fault = .stall(after: came, until: gate) }
    let process = try DownloadProcess(fixture.server.url, fixture.file, parallel: parallel)
    // No more bytes arrive, so a timer commits them.
    #expect(
      await eventually {
        let served = fixture.server.servedBytes
        return served >= came * bodies && (try? fixture.keptBytes) == served
      })
    #expect(await process.kill() == .killed)
    #expect(try fixture.keptBytes == fixture.server.servedBytes)
    gate.open()
  }

  @Test func `download needs constant memory`() async throws {
    let fixture = try DownloadFixture(size: 256 << 20)
    let ending = try await DownloadProcess(fixture.server.url, fixture.file).finish()
    #expect(ending == .done || isSanitized && ending == .memory)
  }
}
