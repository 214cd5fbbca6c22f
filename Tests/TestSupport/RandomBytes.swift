package import Foundation

/// Bytes that look random and are determined by a seed.
///
/// The loop works on whole words: in a debug build, and even more under a sanitizer, a closure for each byte would take
/// most of the time of a test with large bodies.
package func randomBytes(_ count: Int, seed: UInt64) -> Data {
  withUnsafeTemporaryAllocation(of: UInt64.self, capacity: count / 8 + 1) { words in
    var word = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    var place = 0
    while place < words.count {
      word ^= word << 13
      word ^= word >> 7
      word ^= word << 17
      words[place] = word
      place += 1
    }
    return Data(UnsafeRawBufferPointer(words).prefix(count))
  }
}
