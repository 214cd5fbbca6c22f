import ErrandSupport

/// Finds secrets in texts. The time is proportional to the length of the text, whatever the secrets and the text are.
struct SecretSearch: Sendable {
  private struct Secret: Sendable {
    let bytes: [UInt8]
    /// Whether the secret is only found if no letter or digit is next to it.
    let isWord: Bool
  }

  /// The number of bytes by which secrets are looked up. No secret is shorter.
  static let prefix = 4
  /// The number of comparisons of bytes for each byte of the text.
  private static let effort = 32

  /// The secrets by their first bytes, the longest first.
  private let secrets: [UInt32: [Secret]]

  init(values: Set<ByteText>, words: Set<ByteText>) {
    let all =
      values.map { Secret(bytes: Array($0.text.utf8), isWord: false) }
      + words.subtracting(values).map { Secret(bytes: Array($0.text.utf8), isWord: true) }
    secrets = Dictionary(grouping: all.filter { $0.bytes.count >= Self.prefix }) { Self.key($0.bytes, 0) }
      .mapValues { $0.sorted { $0.bytes.count > $1.bytes.count } }
  }

  /// Returns a copy of the text in which all secrets are masked. Secrets that overlap are masked together. If the search
  /// takes too many comparisons, as in a text that was made for that purpose, only the length of the text is returned.
  ///
  /// The search compares bytes, not characters, so it also finds a secret that is followed by a combining accent.
  func masked(_ text: String) -> String {
    if secrets.isEmpty { return text }
    let text = Array(text.utf8)
    guard let found = ranges(in: text) else { return BodyMask.size(text.count) }
    var masked: [UInt8] = []
    var shown = 0
    for range in found {
      masked += text[shown..<range.lowerBound]
      masked += Redaction.mask.utf8
      shown = range.upperBound
    }
    return String(decoding: masked + text[shown...], as: UTF8.self)
  }

  /// The ranges of the secrets in their order; ranges that overlap are one range. Nil if the search takes too long.
  private func ranges(in text: [UInt8]) -> [Range<Int>]? {
    guard text.count >= Self.prefix else { return [] }
    var found: [Range<Int>] = []
    var end = 0
    var comparisons = (1 << 16) + text.count * Self.effort
    for start in 0...text.count - Self.prefix {
      guard let candidates = secrets[Self.key(text, start)] else { continue }
      // A secret that ends in the range that is already found changes nothing.
      for secret in candidates where start + secret.bytes.count > end {
        let isEqual = Self.isEqual(text, start, secret.bytes, &comparisons)
        if comparisons < 0 { return nil }
        guard isEqual, !secret.isWord || Self.isWord(text, start, start + secret.bytes.count) else { continue }
        if start < end, let last = found.popLast() {
          found.append(last.lowerBound..<start + secret.bytes.count)
        } else {
          found.append(start..<start + secret.bytes.count)
        }
        end = start + secret.bytes.count
        break
      }
    }
    return found
  }

  private static func key(_ bytes: [UInt8], _ start: Int) -> UInt32 {
    UInt32(bytes[start]) << 24 | UInt32(bytes[start + 1]) << 16 | UInt32(bytes[start + 2]) << 8
      | UInt32(bytes[start + 3])
  }

  /// Whether the text contains the secret at a position.
  private static func isEqual(_ text: [UInt8], _ start: Int, _ secret: [UInt8], _ comparisons: inout Int) -> Bool {
    comparisons -= 1
    guard text.count - start >= secret.count else { return false }
    var length = prefix
    while length < secret.count, text[start + length] == secret[length] { length += 1 }
    comparisons -= length - prefix
    return length == secret.count
  }

  private static func isWord(_ text: [UInt8], _ start: Int, _ end: Int) -> Bool {
    !(start > 0 && isLetter(text[start - 1])) && !(end < text.count && isLetter(text[end]))
  }

  /// Whether a byte is an ASCII letter or digit, or belongs to a character beyond ASCII.
  private static func isLetter(_ byte: UInt8) -> Bool { ASCII.isAlphanumeric(byte) || byte >= 0x80 }
}
