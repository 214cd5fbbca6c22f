import Foundation

/// The copy of a text with zero bytes behind it.
struct JSONTextCopy {
  /// How many zero bytes stand behind the text: two words, so that one can be read at its last byte.
  private static let margin = 16

  let bytes: UnsafeMutablePointer<UInt8>
  let count: Int

  init(_ data: Data) {
    count = data.count
    bytes = .allocate(capacity: count + Self.margin)
    data.withUnsafeBytes { text in
      if let first = text.baseAddress { UnsafeMutableRawPointer(bytes).copyMemory(from: first, byteCount: text.count) }
    }
    (bytes + count).initialize(repeating: 0, count: Self.margin)
  }

  func deallocate() { bytes.deallocate() }
}
