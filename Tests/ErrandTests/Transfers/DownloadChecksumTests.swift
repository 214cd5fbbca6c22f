import Errand
import ErrandCache
import ErrandChecksum
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Checksums from the caller and from the server.
struct DownloadChecksumTests {
  private static func digest(_ data: Data, _ algorithm: DigestAlgorithm = .sha256) throws -> Data {
    let hash = try algorithm.makeHash()
    data.withUnsafeBytes { hash.update($0) }
    return hash.finish()
  }

  private static func whole(_ fixture: DownloadFixture) -> Data {
    fixture.resource.bytes(in: 0..<fixture.resource.size)
  }

  private static func field(_ digest: Data, _ name: String = "sha-256") -> String {
    "\(name)=:\(digest.base64EncodedString()):"
  }

  @Test(arguments: [DigestAlgorithm.sha256, .sha512]) func `matching checksum is accepted`(
    algorithm: DigestAlgorithm
  ) async throws {
    let fixture = try DownloadFixture()
    let checksum = try Checksum(algorithm, try Self.digest(Self.whole(fixture), algorithm))
    let file = try await fixture.send { $0.checksum = checksum }.result.get()
    #expect(fixture.isRight() && file.checkedBy == [algorithm.name])
  }

  @Test func `wrong checksum deletes the part file`() async throws {
    let fixture = try DownloadFixture()
    try fixture.putOld()
    let checksum = try Checksum.sha256(Data(count: 32))
    let outcome = await fixture.send { $0.checksum = checksum }
    #expect(outcome.error?.code == .checksumMismatch && outcome.error?.stage == .transfer)
    #expect(fixture.isOld && fixture.names == ["film.bin"])
    #expect(fixture.ranges == [nil])
  }

  @Test func `empty file has a checksum`() async throws {
    let fixture = try DownloadFixture(size: 0)
    let checksum = try Checksum.sha256("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    let file = try await fixture.send { $0.checksum = checksum }.result.get()
    #expect(file.checkedBy == ["sha-256"])
  }

  @Test func `kept bytes are hashed again`() async throws {
    let fixture = try DownloadFixture()
    let checksum = try Checksum.sha256(try Self.digest(Self.whole(fixture)))
    await fixture.begin()
    let file = try await fixture.send { $0.checksum = checksum }.result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000 && file.checkedBy == ["sha-256"])
  }

  @Test func `damage to the part file is detected`() async throws {
    let fixture = try DownloadFixture()
    let checksum = try Checksum.sha256(try Self.digest(Self.whole(fixture)))
    await fixture.begin()
    var bytes = try Data(contentsOf: fixture.part)
    bytes[500_000] ^= 1
    let handle = try FileHandle(forWritingTo: fixture.part)
    try handle.write(contentsOf: bytes)
    try handle.close()
    let outcome = await fixture.send { $0.checksum = checksum }
    #expect(outcome.error?.code == .checksumMismatch)
    #expect(fixture.names == [])
    _ = try await fixture.send { $0.checksum = checksum }.result.get()
    #expect(fixture.isRight())
  }

  @Test(arguments: [true, false]) func `checksum survives a restart`(isRight: Bool) async throws {
    let fixture = try DownloadFixture { $1.fault = .cut(after: 1_000_000) }
    let digest = isRight ? try Self.digest(Self.whole(fixture)) : Data(count: 32)
    let checksum = try Checksum.sha256(digest)
    _ = await fixture.send {
      $0.takeUps = 0
      $0.checksum = checksum
    }
    fixture.answer()
    let left = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    let outcome = try await APIClient(baseURL: "").outcome(of: left.request(checkedBy: .standard))
    #expect(outcome.error?.code == (isRight ? nil : .checksumMismatch))
    #expect(fixture.isRight() == isRight && fixture.names == (isRight ? ["film.bin"] : []))
    // Without the algorithm the request cannot be created, so that the file is never accepted unchecked.
    let error = #expect(throws: APIError.self) { try left.request() }
    #expect(error?.code == .invalidChecksum && error?.description.contains("sha-256") == true)
  }

  @Test func `misplaced bytes are detected`() async throws {
    let fixture = try DownloadFixture()
    let checksum = try Checksum.sha256(try Self.digest(Self.whole(fixture)))
    await fixture.begin()
    fixture.answer { $1.deviation = .movedBytes(by: -3) }
    let outcome = await fixture.send { $0.checksum = checksum }
    #expect(outcome.error?.code == .checksumMismatch && fixture.names == [])
  }

  @Test func `different checksum starts again`() async throws {
    let fixture = try DownloadFixture()
    let right = try Checksum.sha256(try Self.digest(Self.whole(fixture)))
    let other = try Checksum.sha256(Data(count: 32))
    fixture.answer { $1.fault = .cut(after: 1_000_000) }
    _ = await fixture.send {
      $0.takeUps = 0
      $0.checksum = other
    }
    fixture.answer()
    let file = try await fixture.send { $0.checksum = right }.result.get()
    #expect(fixture.isRight() && file.keptBytes == 0)
  }

  @Test(arguments: ["Repr-Digest", "Content-Digest"]) func `server's digest is verified`(name: String) async throws {
    let fixture = try DownloadFixture()
    let right = Self.field(try Self.digest(Self.whole(fixture)))
    fixture.answer { $1.fields[name] = right }
    let file = try await fixture.send { $0.digests = .standard }.result.get()
    #expect(fixture.isRight() && file.checkedBy == ["sha-256"])
  }

  @Test(arguments: ["Repr-Digest", "Content-Digest"]) func `server's wrong digest is an error`(name: String)
    async throws
  {
    let wrong = Self.field(Data(count: 32))
    let fixture = try DownloadFixture { $1.fields[name] = wrong }
    try fixture.putOld()
    let outcome = await fixture.send { $0.digests = .standard }
    #expect(outcome.error?.code == .checksumMismatch)
    #expect(fixture.isOld && fixture.names == ["film.bin"])
    // Without an algorithm the digest is not verified.
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.checkedBy == [])
  }

  @Test(arguments: [true, false]) func `whole file's digest covers a resumed file`(isRight: Bool) async throws {
    let fixture = try DownloadFixture()
    let digest = isRight ? try Self.digest(Self.whole(fixture)) : Data(count: 32)
    await fixture.begin()
    fixture.answer { $1.fields["Repr-Digest"] = Self.field(digest) }
    let outcome = await fixture.send { $0.digests = .standard }
    #expect(outcome.error?.code == (isRight ? nil : .checksumMismatch))
    #expect(fixture.isRight() == isRight)
  }

  @Test func `first response's digest is kept`() async throws {
    // Only the interrupted response contains the digest.
    let fixture = try DownloadFixture()
    let right = Self.field(try Self.digest(Self.whole(fixture)))
    fixture.answer { number, behaviour in
      if number == 1 {
        behaviour.fields["Repr-Digest"] = right
        behaviour.fault = .cut(after: 1_000_000)
      } else {
        behaviour.deviation = .movedBytes(by: -3)
      }
    }
    let outcome = await fixture.send { $0.digests = .standard }
    #expect(outcome.error?.code == .checksumMismatch && fixture.names == [])
  }

  @Test func `partial digest does not cover the file`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    let resource = fixture.resource
    fixture.answer {
      $1.contentDigest = { piece in
        (try? Self.digest(resource.bytes(in: piece))).map { Self.field($0) } ?? ""
      }
    }
    _ = try await fixture.send { $0.digests = .standard }.result.get()
    #expect(fixture.isRight())
  }

  @Test func `old version's digest is dropped`() async throws {
    let fixture = try DownloadFixture()
    let other = RangeResource(size: 3_000_000, seed: 2)
    let old = Self.field(try Self.digest(Self.whole(fixture)))
    fixture.answer { number, behaviour in
      if number == 1 {
        behaviour.fields["Repr-Digest"] = old
        behaviour.fault = .cut(after: 1_000_000)
      } else {
        behaviour.resource = other
      }
    }
    _ = try await fixture.send { $0.digests = .standard }.result.get()
    #expect(fixture.isRight(other))
  }
}
