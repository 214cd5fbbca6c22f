/// Decides what of a JSON text must not be seen in messages and logs.
package enum JSONMask {
  /// What stands in place of a masked value.
  static let mark = "…"

  /// Strings with more characters than this are never shown.
  static let longestShown = 24

  /// Whether a string is too long to be shown.
  static func isLong(_ string: String) -> Bool {
    string.utf8.count > longestShown && !string.dropFirst(longestShown).isEmpty
  }

  /// Whether the values under a key are likely to be secrets, judged by the words of the key's name.
  package static func isSecret(key: String) -> Bool {
    // Letters of ASCII alone, so that an accent behind one of them does not hide a word.
    let letters = key.utf8.filter { 0x41...0x5A ~= $0 & 0xDF }.map { $0 | 0x20 }
    let plain = String(decoding: letters, as: UTF8.self)
    return fragments.contains { plain.contains($0) } || !words(of: key).isDisjoint(with: secretWords)
      || plain.hasSuffix("key")  // ASCII
  }

  /// Whether any key on a path is a secret one.
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

  /// The words of `apiKey`, `api_key` and `API-Key`, in lower case.
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
