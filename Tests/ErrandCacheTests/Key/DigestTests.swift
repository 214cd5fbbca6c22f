import ErrandCache
import Testing

/// The functions of digests that custom stores need: to name entries and to store a salt.
struct DigestTests {
  @Test func `digest is rebuilt from its bytes`() {
    let digest = Digest.random()
    #expect(digest.bytes.count == 32)
    #expect(Digest(bytes: digest.bytes) == digest)
    #expect(Digest(bytes: Array(0..<32))?.bytes == Array(0..<32))
  }

  @Test(arguments: [0, 31, 33]) func `other lengths are rejected`(_ count: Int) {
    #expect(Digest(bytes: [UInt8](repeating: 7, count: count)) == nil)
  }

  @Test func `random digests differ`() {
    #expect(Digest.random() != Digest.random())
  }
}
