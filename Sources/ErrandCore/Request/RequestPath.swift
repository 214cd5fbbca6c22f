import ErrandSupport

/// The path of a request, or an absolute URL. Each variable in the string literal is escaped separately.
///
/// ```swift
/// var path: Path { "/users/\(id)/files/\(name)" }    // a "/" in `name` becomes %2F
/// ```
///
/// The literal text is used as written: it may contain a query, and its percent-escapes are kept. A variable cannot
/// change the structure of the path: if a variable makes a segment `.` or `..`, the call fails. The call also fails if the
/// path begins with a variable that is a whole URL; pass such a URL as `RequestPath(text)`.
public struct RequestPath: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
  /// The text of the path, with variables escaped and the rest as written.
  public let text: String
  /// The reason why a call with this path fails; nil if the path can be sent.
  let refusal: Refusal?

  /// A variable that cannot be sent as a part of a path.
  enum Refusal: Sendable, Hashable {
    /// The first segment that contains a variable and is `.` or `..`.
    case dotSegment(String)
    /// The variable at the beginning of the path is a whole URL. It would be escaped and sent as a segment.
    case wholeURL(String)
  }

  /// Makes a path from an existing string. The string is used as written: its percent-escapes are kept, and nothing is
  /// escaped, because the variables in the string can no longer be recognized. By contrast,
  /// `RequestPath("/users/\(id)")` is a literal, in which `id` is escaped.
  public init(_ text: String) {
    self.text = text
    refusal = nil
  }

  /// Makes a path from a literal.
  public init(stringLiteral value: String) { self.init(value) }

  /// Makes a path from a literal with variables, which are escaped.
  public init(stringInterpolation: Interpolation) {
    text = stringInterpolation.text
    refusal =
      stringInterpolation.wholeURL.map { .wholeURL($0) } ?? stringInterpolation.dotSegment().map { .dotSegment($0) }
  }

  /// The path, with the values of its query masked.
  public var description: String { Redaction.url(text) }

  /// Collects the literal text and the variables of a path.
  public struct Interpolation: StringInterpolationProtocol, Sendable {
    fileprivate var text = ""
    /// The variable at the beginning of the path, if it is a whole URL.
    fileprivate private(set) var wholeURL: String?
    private var variables: [Range<Int>] = []

    /// Reserves memory for the literal text and the variables.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 12 * interpolationCount)
    }

    /// Adds literal text, which is not escaped.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a variable. Every character except ASCII letters, digits and `-._~` is escaped.
    public mutating func appendInterpolation(_ variable: some CustomStringConvertible) {
      let text = variable.description
      noteWholeURL(text)
      append(PercentEncoding.value(text))
    }

    /// Adds a variable that may contain slashes, such as the path of a file. Each segment of the variable is escaped.
    public mutating func appendInterpolation(segments variable: String) {
      // Splits bytes instead of characters: a slash and a combining mark after it form one character, at which `String`
      // would not split.
      noteWholeURL(variable)
      let segments = variable.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
      append(segments.map { PercentEncoding.value(String(Substring($0))) }.joined(separator: "/"))
    }

    private mutating func noteWholeURL(_ variable: String) {
      guard text.utf8.isEmpty || text.utf8.elementsEqual("/".utf8), Self.isWholeURL(variable) else { return }
      wholeURL = variable
    }

    private static func isWholeURL(_ variable: String) -> Bool {
      ["http://", "https://"].contains { scheme in
        ASCII.equalFolded(Array(variable.utf8.prefix(scheme.utf8.count)), Array(scheme.utf8))
      }
    }

    private mutating func append(_ escaped: String) {
      let start = text.utf8.count
      text += escaped
      variables.append(start..<text.utf8.count)
    }

    /// Returns the first segment that contains a variable and is `.` or `..`; nil if there is none. A segment also
    /// counts if the text of its variable is empty.
    fileprivate func dotSegment() -> String? {
      guard !variables.isEmpty, text.utf8.contains(0x2E) else { return nil }
      // Compares bytes instead of characters: a slash and a combining mark after it form one character, at which
      // `String` would not split.
      var start = 0
      let path = text.utf8.prefix { $0 != 0x3F && $0 != 0x23 }
      for segment in path.split(separator: 0x2F, omittingEmptySubsequences: false) {
        let range = start..<(start + segment.count)
        let isVariable = variables.contains { $0.lowerBound <= range.upperBound && $0.upperBound >= range.lowerBound }
        if isVariable, segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) {
          return String(Substring(segment))
        }
        start = range.upperBound + 1
      }
      return nil
    }
  }
}

extension RequestPath {
  /// Whether two paths have the same bytes.
  public static func == (left: RequestPath, right: RequestPath) -> Bool {
    left.text.hasSameBytes(as: right.text) && left.refusal == right.refusal
  }

  /// Hashes the bytes of the path.
  public func hash(into hasher: inout Hasher) { hasher.combine(ByteText(text)) }
}

extension RequestPath: CustomReflectable {
  /// The children that `dump` shows; the values of the query are masked.
  public var customMirror: Mirror { Mirror(self, children: ["path": description], displayStyle: .struct) }
}
