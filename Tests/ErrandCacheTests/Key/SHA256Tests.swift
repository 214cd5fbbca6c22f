import Foundation
import Testing

@testable import ErrandCache

struct SHA256Tests {
  static func hex(_ digest: Digest) -> String {
    [digest.words.0, digest.words.1, digest.words.2, digest.words.3].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Test vectors of NIST and of FIPS 180-2, appendix B.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func `known texts have known digests`(text: String, expected: String) {
    #expect(Self.hex(SHA256.digest(of: text.utf8)) == expected)
  }

  @Test func `one million letters hash correctly`() {
    var hash = SHA256()
    for _ in 0..<1_000 { hash.update(repeatElement(UInt8(ascii: "a"), count: 1_000)) }
    #expect(Self.hex(hash.finished()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  /// Lengths near one and two blocks, because the padding changes there.
  @Test(arguments: [
    (55, "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59"),
    (56, "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562"),
    (63, "29af2686fd53374a36b0846694cc342177e428d1647515f078784d69cdb9e488"),
    (64, "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108"),
    (65, "4bfd2c8b6f1eec7a2afeb48b934ee4b2694182027e6d0fc075074f2fabb31781"),
    (119, "da18797ed7c3a777f0847f429724a2d8cd5138e6ed2895c3fa1a6d39d18f7ec6"),
  ])
  func `lengths near a block are correct`(count: Int, expected: String) {
    #expect(Self.hex(SHA256.digest(of: (0..<count).map { UInt8($0) })) == expected)
  }

  @Test(arguments: [1, 3, 7, 63, 64, 65, 127, 129]) func `piece sizes do not change the digest`(step: Int) {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var hash = SHA256()
    for start in stride(from: 0, to: bytes.count, by: step) { hash.update(bytes[start..<min(start + step, 1_000)]) }
    #expect(hash.finished() == SHA256.digest(of: bytes))
    hash.update(Data("more".utf8))
    #expect(hash.finished() == SHA256.digest(of: bytes + Array("more".utf8)))
  }
}
