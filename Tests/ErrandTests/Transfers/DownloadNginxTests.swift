import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Downloads from nginx over HTTP/1.1 and HTTP/2 that are stopped in the middle.
///
/// A rate limit stops them: with a manual clock that does not advance, at most the bytes of a tenth of a second pass.
@Suite(.serialized) struct DownloadNginxTests {
  private static let ports = ["ERRAND_NGINX", "ERRAND_NGINX_TLS"]
  /// Large enough for the first of several ranges, which is 1 MiB.
  private static let rate: Int64 = 12_000_000
  private static let resource = RangeResource(size: 8_000_001)
  private static let changed = RangeResource(size: 8_000_001, seed: 2)
  private static let shorter = RangeResource(size: 5_000_000, seed: 3)

  /// Downloads a quarter of the file over a number of connections and stops there.
  private static func begin(_ nginx: NginxDownload, parallel: Int) async throws -> InterruptedDownload {
    let clock = ManualClock()
    let download = try nginx.client(clock).download(
      nginx.request {
        $0.bytesPerSecond = rate
        $0.parallel = parallel
      })
    // Each body waits for its rate, and the next commit for its timer.
    #expect(await eventually { clock.pending > parallel }, "the rate did not hold the bodies")
    await download.pause()
    #expect(download.phase == .paused)
    await download.cancel()
    let kept = try nginx.kept()
    #expect(kept.isResumable && kept.bytes >= 1_000_000 && kept.bytes < resource.size)
    #expect(kept.total == Int64(resource.size) && nginx.names == ["film.bin.part", "film.bin.part.meta"])
    return kept
  }

  @Test(arguments: ports, [1, 4]) func `stopped download resumes`(port: String, parallel: Int) async throws {
    let nginx = try NginxDownload(port)
    try nginx.serve(Self.resource)
    let kept = try await Self.begin(nginx, parallel: parallel)
    let before = nginx.seen.count
    let file = try await nginx.client().send(nginx.request { $0.parallel = parallel })
    #expect(nginx.holds(Self.resource) && nginx.names == ["film.bin"])
    #expect(file.keptBytes == kept.bytes && file.fetchedBytes == Int64(Self.resource.size) - kept.bytes)
    let seen = nginx.seen.dropFirst(before)
    #expect(!seen.isEmpty)
    for exchange in seen {
      #expect(exchange.status == 206 && exchange.range != nil)
      #expect(exchange.ifRange != nil && exchange.ifRange == exchange.entityTag)
      #expect(exchange.version == (port == "ERRAND_NGINX" ? .http1_1 : .http2))
    }
    if parallel == 1 { #expect(seen.map(\.range) == ["bytes=\(kept.bytes)-"]) }
  }

  @Test(arguments: ports, [1, 4]) func `changed file is downloaded again`(port: String, parallel: Int) async throws {
    for other in [Self.changed, Self.shorter] {
      let nginx = try NginxDownload(port)
      try nginx.serve(Self.resource)
      _ = try await Self.begin(nginx, parallel: parallel)
      try nginx.serve(other, changed: 5)
      let file = try await nginx.client().send(nginx.request { $0.parallel = parallel })
      #expect(nginx.holds(other) && nginx.names == ["film.bin"])
      #expect(file.keptBytes == 0 && nginx.seen.last?.status == 200)
    }
  }

  @Test(arguments: ports) func `change during the download never mixes`(port: String) async throws {
    let nginx = try NginxDownload(port)
    try nginx.serve(Self.resource)
    let clock = ManualClock()
    let download = try nginx.client(clock).download(
      nginx.request {
        $0.bytesPerSecond = Self.rate
        $0.parallel = 4
      })
    #expect(await eventually { clock.pending >= 4 })
    try nginx.serve(Self.changed, changed: 5)
    #expect(
      await eventually {
        clock.advance(by: .seconds(60))
        return download.phase == .ended
      })
    _ = try await download.value()
    #expect(nginx.holds(Self.resource) || nginx.holds(Self.changed))
  }

  @Test(arguments: ports, [1, 2, 4, 8]) func `ranges assemble the correct file`(port: String, parallel: Int)
    async throws
  {
    let nginx = try NginxDownload(port)
    try nginx.serve(Self.resource)
    let file = try await nginx.client().send(nginx.request { $0.parallel = parallel })
    #expect(nginx.holds(Self.resource) && nginx.names == ["film.bin"])
    #expect(file.fetchedBytes == Int64(Self.resource.size))
    let seen = nginx.seen
    // A range has at least 1 MiB.
    #expect(seen.count == (parallel == 1 ? 1 : 1 + min(parallel, 6)))
    #expect(seen.allSatisfy { $0.status == (parallel == 1 ? 200 : 206) })
    #expect(seen.allSatisfy { $0.version == (port == "ERRAND_NGINX" ? .http1_1 : .http2) })
  }

  @Test(arguments: ports) func `handle resumes a paused download`(port: String) async throws {
    let nginx = try NginxDownload(port)
    try nginx.serve(Self.resource)
    let clock = ManualClock()
    let download = try nginx.client(clock).download(nginx.request { $0.bytesPerSecond = Self.rate })
    #expect(await eventually { clock.pending > 0 })
    await download.pause()
    let kept = try nginx.kept()
    download.resume()
    #expect(
      await eventually {
        clock.advance(by: .seconds(60))
        return download.phase == .ended
      })
    let file = try await download.value()
    #expect(nginx.holds(Self.resource) && file.keptBytes == kept.bytes)
    // The exchange that the pause ended may be recorded after the one that continues.
    #expect(nginx.seen.contains { $0.range == "bytes=\(kept.bytes)-" && $0.status == 206 })
  }

  /// The rate limit allows all bytes but one, so the download stops after the last piece: all bytes are there, and the
  /// file has no name yet.
  @Test(arguments: ports) func `416 at the end is success`(port: String) async throws {
    let nginx = try NginxDownload(port)
    let resource = RangeResource(size: 300_000)
    try nginx.serve(resource)
    let clock = ManualClock()
    let download = try nginx.client(clock).download(nginx.request { $0.bytesPerSecond = 10 * (300_000 - 1) })
    // The body waits for its rate, and a commit waits for its timer, unless it has run already.
    #expect(await eventually { clock.pending > 1 || nginx.partBytes == resource.size })
    await download.pause()
    #expect(try nginx.kept().bytes == Int64(resource.size))
    let file = try await nginx.client().send(nginx.request())
    #expect(nginx.holds(resource) && nginx.names == ["film.bin"])
    #expect(file.keptBytes == Int64(resource.size) && file.fetchedBytes == 0)
    #expect(nginx.seen.last?.range == "bytes=300000-" && nginx.seen.last?.status == 416)
  }
}
