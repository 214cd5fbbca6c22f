import ErrandCore

/// Parses the value of `Cache-Control` one directive at a time. A directive is `token [ "=" ( token / quoted-string )
/// ]`, without spaces around the equals sign (RFC 9111 section 5.2).
struct CacheControlReader {
  /// One directive of `Cache-Control`, such as `max-age=60`.
  struct Directive {
    /// The name of the directive, in lower case.
    let name: String
    /// Whether the directive has no argument.
    let isBare: Bool
    /// The argument of the directive as a number; nil if the argument is missing or is not a number.
    let seconds: Int64?
  }

  private enum Argument {
    case none
    case some([UInt8])
    /// The argument is not valid according to the grammar of `Cache-Control`.
    case wrong
  }

  private var rest: ArraySlice<UInt8>
  /// Whether the parsed field contains a quoted string without a closing quote.
  private(set) var isUnterminated = false

  init(_ line: String) { rest = Array(line.utf8)[...] }

  /// Parses the next directive; nil if no directive is left. List members without a name are skipped.
  mutating func next() -> Directive? {
    while !rest.isEmpty {
      skipSpace()
      let name = rest.prefix { ASCII.isToken($0) }
      rest = rest.dropFirst(name.count)
      let argument = self.argument()
      if !name.isEmpty { return Self.directive(name, argument) }
    }
    return nil
  }

  private static func directive(_ name: ArraySlice<UInt8>, _ argument: Argument) -> Directive {
    let name = String(unsafeUninitializedCapacity: name.count) { buffer in
      for (index, byte) in name.enumerated() { buffer.initializeElement(at: index, to: ASCII.lowercased(byte)) }
      return name.count
    }
    return switch argument {
    case .none: Directive(name: name, isBare: true, seconds: nil)
    case .some(let bytes): Directive(name: name, isBare: false, seconds: DeltaSeconds.read(bytes))
    case .wrong: Directive(name: name, isBare: false, seconds: nil)
    }
  }

  /// Parses the argument up to the comma that ends the directive, and consumes the comma.
  private mutating func argument() -> Argument {
    var argument = Argument.none
    if rest.first == 0x3D {
      rest = rest.dropFirst()
      argument = rest.first == 0x22 ? quoted() : token()
    }
    skipSpace()
    if rest.isEmpty || rest.first == 0x2C {
      rest = rest.dropFirst()
      return argument
    }
    skipToComma()
    return .wrong
  }

  private mutating func token() -> Argument {
    let token = rest.prefix { ASCII.isToken($0) }
    rest = rest.dropFirst(token.count)
    return token.isEmpty ? .wrong : .some(Array(token))
  }

  /// Parses a quoted string (RFC 9110 section 5.6.4).
  private mutating func quoted() -> Argument {
    var text: [UInt8] = []
    rest = rest.dropFirst()
    while let byte = rest.popFirst() {
      if byte == 0x22 { return .some(text) }
      if byte != 0x5C {
        text.append(byte)
      } else if let escaped = rest.popFirst() {
        text.append(escaped)
      }
    }
    isUnterminated = true
    return .wrong
  }

  private mutating func skipToComma() {
    while let byte = rest.first, byte != 0x2C {
      if byte == 0x22 {
        _ = quoted()
      } else {
        rest = rest.dropFirst()
      }
    }
    rest = rest.dropFirst()
  }

  private mutating func skipSpace() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }
}
