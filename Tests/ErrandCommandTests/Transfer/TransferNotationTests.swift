import Errand
import Testing

@testable import ErrandCommand

struct TransferNotationTests {
  @Test(
    arguments: [
      ("1", 1), ("500", 500), ("500k", 512_000), ("500K", 512_000), ("2M", 2 << 20), ("2m", 2 << 20), ("1.5G", 3 << 29),
      (".5k", 512), ("1024G", 1 << 40),
    ] as [(String, Int64)])
  func `rates are parsed`(text: String, rate: Int64) throws {
    #expect(try RateNotation.bytesPerSecond(text, of: "--limit-rate") == rate)
  }

  @Test(arguments: [
    "", "0", "0.5", "k", "-1", "+5", "1e3", "2 M", "2MB", "1,5M", "1..5", ".", "nan", "inf", "1025G", "５", "0x10",
    "99999999999999999999999999",
  ])
  func `invalid rates are rejected`(text: String) {
    let error = #expect(throws: UsageError.self) { try RateNotation.bytesPerSecond(text, of: "--limit-rate") }
    #expect(
      error?.description == "--limit-rate needs a rate such as 500k, 2M or 1.5G bytes a second, not “\(text)”")
  }

  @Test func `checksums are parsed`() throws {
    let hex = String(repeating: "0a", count: 32)
    #expect(try DownloadParser.parse(["h", "--sha256", hex]).checksum?.hex == hex)
    #expect(try DownloadParser.parse(["h", "--sha512", hex + hex]).checksum?.algorithm.name == "sha-512")
  }

  @Test(arguments: ["", "0a", String(repeating: "x", count: 64)])
  func `invalid checksums are rejected`(text: String) {
    let error = #expect(throws: UsageError.self) { try DownloadParser.parse(["h", "--sha256", text]) }
    #expect(error?.description.hasPrefix("--sha256: A sha-256 checksum ") == true)
  }
}
