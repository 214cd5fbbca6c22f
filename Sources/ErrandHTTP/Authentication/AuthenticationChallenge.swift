/// One challenge of the field `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110 sections 11.6.1 and 11.7.1).
package struct AuthenticationChallenge: Sendable, Hashable {
  /// The scheme in lower case, such as `basic`.
  package let scheme: String
  /// The values of the parameters by their names in lower case.
  private var parameters: [String: String] = [:]

  private init(_ scheme: String) { self.scheme = scheme }

  /// The value of the first parameter with a name in lower case; nil if there is none. Quotes are removed.
  package subscript(name: String) -> String? { parameters[name] }

  /// Reads all challenges of the field lines, in their order. Text that is no challenge is skipped. A challenge with a
  /// single token instead of parameters, as of the scheme Negotiate, has no parameters. The time is linear in the
  /// length of the lines.
  package static func all(in lines: [String]) -> [AuthenticationChallenge] {
    lines.flatMap { line in
      var scanner = ChallengeScanner(line)
      return scanner.challenges()
    }
  }

  /// Scans one field line. A comma separates both challenges and parameters, so only the equals sign after a word tells
  /// a parameter from a scheme.
  private struct ChallengeScanner {
    private var rest: Substring.UTF8View

    init(_ line: String) { rest = line.utf8[...] }

    mutating func challenges() -> [AuthenticationChallenge] {
      var found: [AuthenticationChallenge] = []
      while true {
        rest = rest.drop { $0 == 0x2C || ASCII.isBlank($0) }
        guard !rest.isEmpty else { return found }
        let word = rest.prefix { ASCII.isToken($0) }
        rest = rest[word.endIndex...]
        let hasSpace = ASCII.isBlank(rest.first)
        if word.isEmpty {
          skipToComma()
        } else if let value = parameterValue() {
          guard let last = found.indices.last else { continue }
          let name = Self.lowercased(word)
          if found[last].parameters[name] == nil { found[last].parameters[name] = value }
        } else if hasSpace || rest.isEmpty || rest.first == 0x2C {
          found.append(AuthenticationChallenge(Self.lowercased(word)))
          skipToken68()
        } else {
          skipToComma()
        }
      }
    }

    /// Takes an equals sign and the value after it. Takes nothing and returns nil if no parameter's value follows.
    private mutating func parameterValue() -> String? {
      var ahead = rest.drop { ASCII.isBlank($0) }
      guard ahead.popFirst() == 0x3D else { return nil }
      ahead = ahead.drop { ASCII.isBlank($0) }
      if ahead.first == 0x22 {
        rest = ahead.dropFirst()
        return ASCII.takeQuoted(from: &rest)
      }
      let value = ahead.prefix { ASCII.isToken($0) }
      guard !value.isEmpty else { return nil }
      rest = ahead[value.endIndex...]
      return String(decoding: value, as: UTF8.self)
    }

    /// Skips the single token that some schemes have instead of parameters (RFC 9110 section 11.2).
    private mutating func skipToken68() {
      let ahead = rest.drop { ASCII.isBlank($0) }
      let token = ahead.prefix { ASCII.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
      let padded = ahead[token.endIndex...].drop { $0 == 0x3D }.drop { ASCII.isBlank($0) }
      if !token.isEmpty, padded.isEmpty || padded.first == 0x2C { rest = padded }
    }

    private mutating func skipToComma() { rest = rest.drop { $0 != 0x2C } }

    private static func lowercased(_ text: Substring.UTF8View) -> String {
      String(decoding: text.map(ASCII.lowercased), as: UTF8.self)
    }
  }
}
