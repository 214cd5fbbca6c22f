import ErrandCache

extension Digest {
  /// The digest as 64 hexadecimal digits.
  var hex: String { [words.0, words.1, words.2, words.3].map(Self.hexadecimal).joined() }

  /// Parses 64 hexadecimal digits.
  init?(hex: String) {
    guard hex.utf8.count == 64 else { return nil }
    var words: [UInt64] = []
    var rest = hex[...]
    while !rest.isEmpty {
      guard rest.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }), let word = UInt64(rest.prefix(16), radix: 16) else {
        return nil
      }
      words.append(word)
      rest = rest.dropFirst(16)
    }
    guard words.count == 4 else { return nil }
    self.init(words: (words[0], words[1], words[2], words[3]))
  }
}
