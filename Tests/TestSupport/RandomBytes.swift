package import Foundation

/// Bytes that look random and are told by a number.
///
/// Plain steps over whole words: in a debug build, and more so under a sanitizer, a closure for each byte is what a test
/// of large bodies would spend its time on.
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
