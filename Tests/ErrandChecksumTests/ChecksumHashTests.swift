import ErrandCore
import Foundation
import Testing

@testable import ErrandChecksum

struct ChecksumHashTests {
  /// FIPS 180-4's examples, and the empty message.
  @Test(arguments: [
    (DigestAlgorithm.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      .sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      .sha512, "",
      "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
        + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
    ),
    (
      .sha512, "abc",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    ),
  ])
  func `known vectors come out`(algorithm: DigestAlgorithm, message: String, hex: String) throws {
    let hash = try algorithm.makeHash()
    Data(message.utf8).withUnsafeBytes { hash.update($0) }
    #expect(try Checksum(algorithm, hash.finish()).hex == hex)
  }

  @Test(arguments: [(DigestAlgorithm.sha256, "sha256sum"), (.sha512, "sha512sum")])
  func `a mebibyte agrees with coreutils`(algorithm: DigestAlgorithm, tool: String) throws {
    let bytes = Self.message(count: 1 << 20)
    let file = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
    try bytes.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let line = try Self.run(tool, file.path)
    let hash = try algorithm.makeHash()
    bytes.withUnsafeBytes { hash.update($0) }
    #expect(line.hasPrefix(try Checksum(algorithm, hash.finish()).hex + " "))
  }

  @Test(arguments: [1, 3, 63, 64, 65, 127, 128, 1_000, 65_536, 1 << 20])
  func `pieces of any size agree`(size: Int) throws {
    let bytes = Self.message(count: 70_001)
    for algorithm in [DigestAlgorithm].standard {
      let whole = try algorithm.makeHash()
      bytes.withUnsafeBytes { whole.update($0) }
      let pieces = try algorithm.makeHash()
      bytes.withUnsafeBytes { bytes in
        for start in stride(from: 0, to: bytes.count, by: size) {
          pieces.update(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + size, bytes.count)]))
          pieces.update(UnsafeRawBufferPointer(start: nil, count: 0))
        }
      }
      let digest = whole.finish()
      #expect(digest.count == algorithm.length)
      #expect(pieces.finish() == digest)
    }
  }

  @Test func `hashes do not disturb each other`() throws {
    let first = try DigestAlgorithm.sha256.makeHash()
    let second = try DigestAlgorithm.sha256.makeHash()
    Data("abc".utf8).withUnsafeBytes { first.update($0) }
    let empty = second.finish()
    #expect(empty.first == 0xE3)
    #expect(first.finish().first == 0xBA)
  }

  #if os(Linux)
    @Test func `a hash that cannot begin is an error`() {
      let error = #expect(throws: APIError.self) { try LibcryptoHash(nil, name: "sha-3") }
      #expect(error?.stage == .transfer && error?.code == .unsupported)
      #expect(error?.message.contains("sha-3") == true)
    }

    @Test func `an ended hash is left alone`() throws {
      let hash = try DigestAlgorithm.sha256.makeHash()
      #expect(hash.finish().count == 32)
      Data("late".utf8).withUnsafeBytes { hash.update($0) }
      #expect(hash.finish().isEmpty)
    }
  #endif

  private static func message(count: Int) -> Data {
    var state: UInt32 = 1
    return Data(
      (0..<count).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return UInt8(truncatingIfNeeded: state >> 24)
      })
  }

  private static func run(_ tool: String, _ argument: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [tool, argument]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }
}
