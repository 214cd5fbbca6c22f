import Errand
import ErrandCache
import ErrandChecksum
import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// `Content-Digest` of a partial response (206) covers the bytes of that one message (RFC 9530 section 2).
struct DownloadContentDigestTests {
  private static let size = 5_000_000

  private static func field(_ data: Data, _ algorithm: DigestAlgorithm = .sha256) -> String {
    guard let hash = try? algorithm.makeHash() else { return "" }
    data.withUnsafeBytes { hash.update($0) }
    return "\(algorithm.name)=:\(hash.finish().base64EncodedString()):"
  }

  /// Creates the digest of the bytes that are sent.
  private static func digests(
    _ resource: RangeResource, _ algorithm: DigestAlgorithm = .sha256
  ) -> @Sendable (Range<Int>) -> String {
    { field(resource.bytes(in: $0), algorithm) }
  }

  private static let wrong = field(Data("something else".utf8))

  private static func send(_ fixture: DownloadFixture, _ parallel: Int = 1) async -> Outcome<DownloadedFile> {
    await fixture.send {
      $0.digests = .standard
      $0.parallel = parallel
    }
  }

  @Test(arguments: [1, 4], [DigestAlgorithm.sha256, .sha512])
  func `matching digests are accepted`(parallel: Int, algorithm: DigestAlgorithm) async throws {
    let fixture = try DownloadFixture(size: Self.size)
    await fixture.begin()
    let resource = fixture.resource
    fixture.answer { $1.contentDigest = Self.digests(resource, algorithm) }
    let file = try await Self.send(fixture, parallel).result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
    #expect(fixture.server.requests.dropFirst().allSatisfy { $0.status == 206 })
  }

  @Test(arguments: [1, 4]) func `shortened ranges have separate digests`(parallel: Int) async throws {
    let resource = RangeResource(size: Self.size)
    let fixture = try DownloadFixture(size: Self.size) { _, behaviour in
      behaviour.contentDigest = Self.digests(resource)
      behaviour.deviation = .shortened(to: 700_000)
    }
    _ = try await Self.send(fixture, parallel).result.get()
    #expect(fixture.isRight())
  }

  @Test func `wrong digest of the rest deletes the part`() async throws {
    let fixture = try DownloadFixture(size: Self.size)
    await fixture.begin()
    try fixture.putOld()
    fixture.answer { $1.fields["Content-Digest"] = Self.wrong }
    let outcome = await Self.send(fixture)
    #expect(outcome.error?.code == .checksumMismatch && outcome.error?.stage == .transfer)
    #expect(fixture.isOld && fixture.names == ["film.bin"])
    fixture.answer()
    let file = try await Self.send(fixture).result.get()
    #expect(fixture.isRight() && file.keptBytes == 0)
  }

  /// The first response is the first range; the others arrive concurrently.
  @Test(arguments: 1...5) func `wrong digest of a range deletes the part`(number: Int) async throws {
    let resource = RangeResource(size: Self.size)
    let fixture = try DownloadFixture(size: Self.size) { request, behaviour in
      behaviour.contentDigest = Self.digests(resource)
      if request == number { behaviour.contentDigest = { _ in Self.wrong } }
    }
    try fixture.putOld()
    let outcome = await Self.send(fixture, 4)
    // Three more ranges of 1 MiB follow the first one.
    #expect(outcome.error?.code == (number > 4 ? nil : .checksumMismatch))
    if number > 4 { return }
    #expect(fixture.isOld && fixture.names == ["film.bin"])
    fixture.answer()
    let file = try await Self.send(fixture, 4).result.get()
    #expect(fixture.isRight() && file.keptBytes == 0)
  }

  /// A shortened range has a wrong digest while others are written: they end, and the part file is deleted.
  @Test func `wrong digest ends the other ranges`() async throws {
    // Each round transfers nine megabytes.
    for _ in 0..<max(rounds / 5, 10) {
      let fixture = try DownloadFixture(size: 9_000_000) { request, behaviour in
        guard request == 3 else { return }
        behaviour.deviation = .shortened(to: 200_000)
        behaviour.contentDigest = { _ in Self.wrong }
      }
      let outcome = await Self.send(fixture, 8)
      #expect(outcome.error?.code == .checksumMismatch && fixture.names == [], "\(outcome.error?.description ?? "")")
      if outcome.error?.code != .checksumMismatch || fixture.names != [] { return }
    }
  }

  @Test(arguments: [1, 4]) func `misplaced bytes are detected`(parallel: Int) async throws {
    let resource = RangeResource(size: Self.size)
    let fixture = try DownloadFixture(size: Self.size)
    await fixture.begin()
    fixture.answer { number, behaviour in
      guard number == 2 else { return }
      // The digest belongs to the correct bytes.
      behaviour.deviation = .movedBytes(by: -3)
      behaviour.contentDigest = { piece in
        Self.field(resource.bytes(in: (piece.lowerBound + 3)..<(piece.upperBound + 3)))
      }
    }
    let outcome = await Self.send(fixture, parallel)
    #expect(outcome.error?.code == .checksumMismatch && fixture.names == [])
  }

  @Test(
    arguments: [1, 4],
    [
      "md5=:AAAAAAAAAAAAAAAAAAAAAA==:", "unixsum=:ABCD:", "sha-256", "sha-256=:AAAA:", "sha-256=\"text\"", "", "=",
      "sha-256=:\u{e9}:",
    ]) func `unreadable digest is ignored`(parallel: Int, field: String) async throws
  {
    let fixture = try DownloadFixture(size: Self.size)
    await fixture.begin()
    fixture.answer { $1.fields["Content-Digest"] = field }
    let file = try await Self.send(fixture, parallel).result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
  }

  @Test(arguments: [1, 4]) func `digest without algorithm is not verified`(parallel: Int) async throws {
    let fixture = try DownloadFixture(size: Self.size)
    await fixture.begin()
    fixture.answer { $1.fields["Content-Digest"] = Self.wrong }
    _ = try await fixture.send { $0.parallel = parallel }.result.get()
    #expect(fixture.isRight())
  }

  /// The digest covers the complete message, so it neither confirms nor rejects an interrupted one.
  @Test(arguments: [1, 4]) func `interrupted body's digest is not verified`(parallel: Int) async throws {
    let resource = RangeResource(size: Self.size)
    let fixture = try DownloadFixture(size: Self.size)
    await fixture.begin()
    fixture.answer { number, behaviour in
      behaviour.contentDigest = Self.digests(resource)
      if number == 2 { behaviour.fault = .cut(after: 500_000) }
    }
    let file = try await Self.send(fixture, parallel).result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
  }

  @Test(arguments: [1, 4]) func `error response's digest is not verified`(parallel: Int) async throws {
    let fixture = try DownloadFixture(size: Self.size)
    await fixture.begin()
    let field = Self.wrong
    fixture.answer { $1.fault = .status(503, ["Content-Digest": "\(field)"]) }
    #expect(await Self.send(fixture, parallel).error?.status == 503)
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
    fixture.answer()
    let file = try await Self.send(fixture, parallel).result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
  }
}
