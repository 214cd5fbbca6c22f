import ErrandChecksum
import Foundation
import Testing

struct MessageAuthenticationTests {
  private static let long =
    "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed "
    + "before being used by the HMAC algorithm."

  /// The test cases 1 to 4, 6 and 7 of RFC 4231 section 4. Case 5 is about shortened codes.
  private static let vectors: [(key: Data, message: Data, sha256: String, sha512: String)] = [
    (
      Data(repeating: 0x0B, count: 20), Data("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
      "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
        + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"
    ),
    (
      Data("Jefe".utf8), Data("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
      "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
        + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
    ),
    (
      Data(repeating: 0xAA, count: 20), Data(repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
      "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39"
        + "bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb"
    ),
    (
      Data(UInt8(1)...25), Data(repeating: 0xCD, count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
      "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3db"
        + "a91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd"
    ),
    (
      Data(repeating: 0xAA, count: 131), Data("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
      "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
        + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"
    ),
    (
      Data(repeating: 0xAA, count: 131), Data(long.utf8),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
      "e37b6a775dc87dbaa4dfa9f96e5e3ffddebd71f8867289865df5a32d20cdc944"
        + "b6022cac3c4982b10d5eeb55c3e4de15134676fb6de0446065c97440fa8c6a58"
    ),
  ]

  @Test(arguments: vectors.indices)
  func `codes equal the vectors of RFC 4231`(index: Int) throws {
    let vector = Self.vectors[index]
    #expect(Self.hex(try MessageAuthentication.hmacSHA256(of: vector.message, key: vector.key)) == vector.sha256)
    #expect(Self.hex(try MessageAuthentication.hmacSHA512(of: vector.message, key: vector.key)) == vector.sha512)
  }

  /// Zeros at the end of a key that is shorter than a block do not count (RFC 2104 section 3).
  @Test(arguments: [63, 64, 65])
  func `keys longer than a block are hashed`(count: Int) throws {
    let message = Data("m".utf8)
    let padded = Data(repeating: 7, count: count) + Data(count: max(64 - count, 0))
    let code = try MessageAuthentication.hmacSHA256(of: message, key: Data(repeating: 7, count: count))
    #expect(try MessageAuthentication.hmacSHA256(of: message, key: padded) == code)
    #expect(try MessageAuthentication.hmacSHA256(of: message, key: padded + Data([0])) != code)
  }

  @Test func `an empty key and message have a code`() throws {
    let code = try MessageAuthentication.hmacSHA256(of: Data(), key: Data())
    #expect(Self.hex(code) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  /// A slice of `Data` does not begin at the index 0.
  @Test func `slices have the code of their bytes`() throws {
    let slice = Data("xJefex".utf8)[1..<5]
    let message = Data("what do ya want for nothing?".utf8)
    let code = try MessageAuthentication.hmacSHA256(of: message, key: slice)
    #expect(Self.hex(code) == Self.vectors[1].sha256)
  }

  private static func hex(_ bytes: Data) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
