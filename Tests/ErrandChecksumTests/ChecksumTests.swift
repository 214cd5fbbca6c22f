import ErrandChecksum
import ErrandCore
import Foundation
import Testing

struct ChecksumTests {
  private static let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
  private static let base64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="

  private static let refused: [(String, String)] = [
    ("", "the given text has 0 bytes"),
    ("abc", "64 hexadecimal digits or 44 characters of base64"),
    ("\(hex)0", "the given text has 65 bytes"),
    (" \(hex)", "the given text has 65 bytes"),
    ("\(hex.dropLast())é", "the given text has 65 bytes"),
    ("\(hex)\r\n", "the given text has 66 bytes"),
    ("\(hex.dropLast())g", "must be hexadecimal digits only"),
    ("\(hex.dropLast(2))é", "in a text of 64 bytes must be hexadecimal digits only"),
    ("\(hex.dropLast(2))\r\n", "must be hexadecimal digits only"),
    ("\(base64.dropLast())A", "must be 32 bytes in base64"),
    (base64.replacing("/", with: "_"), "must be 32 bytes in base64"),
    (base64.replacing("Fa0=", with: "Fa1="), "must be 32 bytes in base64"),
    ("\(base64.dropLast())", "the given text has 43 bytes"),
  ]

  @Test(arguments: [hex, hex.uppercased(), base64])
  func `text of either kind is read`(text: String) throws {
    let sum = try Checksum.sha256(text)
    #expect(sum.hex == Self.hex)
    #expect(sum.description == "sha-256:" + Self.hex)
    #expect(sum.algorithm.name == "sha-256")
    #expect(sum.expected.count == 32)
  }

  @Test func `longer digests are read`() throws {
    let digest = Data(0..<64)
    let sums = [
      try Checksum.sha512(digest), try Checksum.sha512(digest.base64EncodedString()),
      try Checksum.sha512(Checksum.sha512(digest).hex),
    ]
    for sum in sums { #expect(sum.expected == digest && sum.algorithm.name == "sha-512") }
  }

  @Test(arguments: refused)
  func `bad text is refused`(text: String, reason: String) {
    let error = #expect(throws: APIError.self) { try Checksum.sha256(text) }
    #expect(error?.code == .invalidChecksum)
    #expect(error?.stage == .build)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [0, 31, 33, 64]) func `wrong length is refused`(count: Int) {
    let error = #expect(throws: APIError.self) { try Checksum.sha256(Data(count: count)) }
    #expect(error?.message == "A sha-256 digest has 32 bytes, but the given digest has \(count).")
  }

  @Test func `only the expected digest matches`() throws {
    let sum = try Checksum.sha256(Self.hex)
    #expect(sum.matches(sum.expected))
    #expect(!sum.matches(sum.expected.dropLast()) && !sum.matches(Data()) && !sum.matches(Data(count: 32)))
  }
}
