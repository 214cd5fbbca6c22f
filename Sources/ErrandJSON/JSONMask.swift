/// Decides which parts of a JSON text must not appear in messages and logs.
package enum JSONMask {
  /// The replacement for a masked value.
  static let mark = "…"

  /// The maximum number of characters of a string that is shown. Longer strings are masked.
  static let longestShown = 24

  /// Whether a string is too long to be shown.
  static func isLong(_ string: String) -> Bool {
    string.utf8.count > longestShown && !string.dropFirst(longestShown).isEmpty
  }

  /// Whether the values under a key are probably secrets. The words in the key decide.
  package static func isSecret(key: String) -> Bool {
    // Only ASCII letters count, so that a combining accent after a letter does not hide a word.
    let letters = key.utf8.filter { 0x41...0x5A ~= $0 & 0xDF }.map { $0 | 0x20 }
    let plain = String(decoding: letters, as: UTF8.self)
    return fragments.contains { plain.contains($0) } || !words(of: key).isDisjoint(with: secretWords)
      || plain.hasSuffix("key")  // `plain` is ASCII, so no combining mark can hide the suffix
  }

  /// Whether the name of any key on a path suggests a secret.
  static func isSecret(_ path: JSONPath) -> Bool {
    path.steps.contains { if case .key(let key) = $0 { isSecret(key: key) } else { false } }
  }

  private static let fragments = [
    "password", "passwd", "passphrase", "passcode", "token", "secret", "authorization", "credential", "cookie",
    "signature",
    "privatekey", "apikey", "sessionid",
  ]

  private static let secretWords: Set<String> = [
    "key", "keys", "auth", "pwd", "pin", "otp", "jwt", "sid", "cvv", "cvc", "ssn", "iban", "bearer", "session",
  ]

  /// The words of a key in lower case: `apiKey`, `api_key` and `API-Key` give "api" and "key".
  private static func words(of key: String) -> Set<String> {
    var words: Set<String> = []
    var word = ""
    var wasLower = false
    for character in key {
      if !character.isLetter || (wasLower && character.isUppercase) {
        words.insert(word)
        word = ""
      }
      if character.isLetter { word += character.lowercased() }
      wasLower = character.isLowercase
    }
    words.insert(word)
    return words
  }
}
