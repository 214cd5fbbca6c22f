package import ErrandCore

/// The directives of `Cache-Control`, of a request or of a response (RFC 9111 section 5.2, RFC 5861, RFC 8246).
///
/// If a directive is repeated, the strictest value counts. An argument that is not a number counts as the strictest
/// value. `private` and `no-cache` with field names count like those without names, because the cache never removes
/// single fields. `s-maxage` and `proxy-revalidate` are for shared caches and are ignored.
package struct CacheControl: Sendable, Hashable {
  /// `no-store`: no part of the request or the response may be stored.
  package var noStore = false
  /// `no-cache`: the stored response must be validated before each use.
  package var noCache = false
  /// `must-revalidate`: the stored response is never served stale.
  package var mustRevalidate = false
  /// `must-understand`: the response is stored only if the cache understands its status. A response with this directive
  /// may be stored even if it also has `no-store`.
  package var mustUnderstand = false
  /// `public`: any cache may store the response.
  package var isPublic = false
  /// `private`: only a private cache, such as this one, may store the response.
  package var isPrivate = false
  /// `immutable`: the response does not change while it is fresh.
  package var immutable = false
  /// `only-if-cached` in a request: the server must not be contacted.
  package var onlyIfCached = false
  /// `max-age` in seconds. In a response it is the freshness lifetime; in a request it is the maximum accepted age.
  package var maxAge: Int64?
  /// `min-fresh` in a request: the time in seconds for which the response must remain fresh.
  package var minFresh: Int64?
  /// `max-stale` in a request: the maximum time in seconds for which the response may have been stale. If the directive
  /// has no argument, the value is the largest number, because any staleness is accepted.
  package var maxStale: Int64?
  /// `stale-while-revalidate`: the time in seconds for which a stale response may be served while it is refreshed.
  package var staleWhileRevalidate: Int64?
  /// `stale-if-error`: the time in seconds for which a stale response may be served if the server fails.
  package var staleIfError: Int64?
  /// Whether a quoted string in the field is not terminated. The directives after the quote are then unknown, so the
  /// response never counts as fresh, and ``mustRevalidate`` is true.
  package var isMalformed = false

  /// Makes a value without directives.
  package init() {}

  /// Parses the values of all `Cache-Control` lines, in linear time.
  package init(_ lines: [String]) {
    for line in lines {
      var reader = CacheControlReader(line)
      while let directive = reader.next() { apply(directive) }
      isMalformed = isMalformed || reader.isUnterminated
    }
    if isMalformed { mustRevalidate = true }
  }

  package init(response fields: HTTPFields) { self.init(fields.values(of: .cacheControl)) }

  /// Parses the directives of a request. In a request without `Cache-Control`, `Pragma: no-cache` counts as `no-cache`
  /// (RFC 9111 section 5.4).
  package init(request fields: HTTPFields) {
    self.init(fields.values(of: .cacheControl))
    guard !fields.contains(.cacheControl) else { return }
    noCache = fields.values(of: "Pragma").flatMap(FieldList.members).contains {
      ASCII.equalFolded($0.utf8, "no-cache".utf8)
    }
  }

  private mutating func apply(_ directive: CacheControlReader.Directive) {
    switch directive.name {
    case "no-store": noStore = true
    case "no-cache": noCache = true
    case "must-revalidate": mustRevalidate = true
    case "must-understand": mustUnderstand = true
    case "public": isPublic = true
    case "private": isPrivate = true
    case "immutable": immutable = true
    case "only-if-cached": onlyIfCached = true
    case "max-age": maxAge = min(maxAge ?? .max, directive.seconds ?? 0)
    case "min-fresh": minFresh = max(minFresh ?? 0, directive.seconds ?? DeltaSeconds.ceiling)
    case "max-stale": maxStale = min(maxStale ?? .max, directive.isBare ? .max : directive.seconds ?? 0)
    case "stale-while-revalidate": staleWhileRevalidate = min(staleWhileRevalidate ?? .max, directive.seconds ?? 0)
    case "stale-if-error": staleIfError = min(staleIfError ?? .max, directive.seconds ?? 0)
    default: break
    }
  }
}

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
