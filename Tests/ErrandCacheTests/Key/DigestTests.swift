import ErrandCache
import Testing

/// What a store outside of the library needs of digests: names for its entries, and a salt that it keeps.
@Suite struct DigestTests {
  @Test func `bytes make the digest again`() {
    let digest = Digest.random()
    #expect(digest.bytes.count == 32)
    #expect(Digest(bytes: digest.bytes) == digest)
    #expect(Digest(bytes: Array(0..<32))?.bytes == Array(0..<32))
  }

  @Test(arguments: [0, 31, 33]) func `other lengths are no digest`(_ count: Int) {
    #expect(Digest(bytes: [UInt8](repeating: 7, count: count)) == nil)
  }

  @Test func `random digests differ`() {
    #expect(Digest.random() != Digest.random())
  }
}
