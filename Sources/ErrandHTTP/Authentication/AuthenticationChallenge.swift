/// One challenge of the field `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110 sections 11.6.1 and 11.7.1).
package struct AuthenticationChallenge: Sendable, Hashable {
  /// A parameter of a challenge.
  private struct Parameter: Sendable, Hashable {
    let name: String
    let value: String
  }

  /// The scheme in lower case, such as `basic`.
  package let scheme: String
  private var parameters: [Parameter] = []

  private init(_ scheme: String) { self.scheme = scheme }

  /// The value of the first parameter with a name in lower case; nil if there is none. Quotes are removed.
  package subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

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
        rest = rest.drop { $0 == 0x2C || Self.isSpace($0) }
        guard !rest.isEmpty else { return found }
        let word = rest.prefix { ASCII.isToken($0) }
        rest = rest[word.endIndex...]
        let hasSpace = rest.first.map(Self.isSpace) == true
        if word.isEmpty {
          skipToComma()
        } else if let value = parameterValue() {
          guard let last = found.indices.last else { continue }
          found[last].parameters.append(Parameter(name: Self.lowercased(word), value: value))
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
      var ahead = rest.drop(while: Self.isSpace)
      guard ahead.popFirst() == 0x3D else { return nil }
      ahead = ahead.drop(while: Self.isSpace)
      if ahead.first == 0x22 {
        rest = ahead.dropFirst()
        return quoted()
      }
      let value = ahead.prefix { ASCII.isToken($0) }
      guard !value.isEmpty else { return nil }
      rest = ahead[value.endIndex...]
      return String(decoding: value, as: UTF8.self)
    }

    /// Takes a quoted string up to its closing quote (RFC 9110 section 5.6.4), or up to the end of the line.
    private mutating func quoted() -> String {
      var bytes: [UInt8] = []
      while let byte = rest.popFirst(), byte != 0x22 {
        if byte == 0x5C, let escaped = rest.popFirst() { bytes.append(escaped) } else { bytes.append(byte) }
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// Skips the single token that some schemes have instead of parameters (RFC 9110 section 11.2).
    private mutating func skipToken68() {
      let ahead = rest.drop(while: Self.isSpace)
      let token = ahead.prefix { ASCII.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
      let padded = ahead[token.endIndex...].drop { $0 == 0x3D }.drop(while: Self.isSpace)
      if !token.isEmpty, padded.isEmpty || padded.first == 0x2C { rest = padded }
    }

    private mutating func skipToComma() { rest = rest.drop { $0 != 0x2C } }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func lowercased(_ text: Substring.UTF8View) -> String {
      String(decoding: text.map(ASCII.lowercased), as: UTF8.self)
    }
  }
}
