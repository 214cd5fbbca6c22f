/// The path of a request, or an absolute URL. Each variable written into it is escaped on its own.
///
/// ```swift
/// var path: Path { "/users/\(id)/files/\(name)" }    // a "/" in `name` becomes %2F
/// ```
///
/// What stands in the literal is the programmer's: it may hold a query, and its escapes are kept. A variable cannot
/// change the path's shape: a segment that consists of variables and reads `.` or `..` fails the call.
public struct RequestPath: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
  /// The text, variables escaped, the rest as it was written.
  public let text: String
  /// The segment that makes the path unusable, if there is one.
  let refusedSegment: String?

  /// Makes a path of a text that was put together before, read like a literal: its escapes are kept, and what was a
  /// variable in it can no longer be told, so none is escaped. `RequestPath("/users/\(id)")`, a literal, escapes `id`.
  public init(_ text: String) {
    self.text = text
    refusedSegment = nil
  }

  /// Makes a path of a literal.
  public init(stringLiteral value: String) { self.init(value) }

  /// Makes a path of a literal with variables.
  public init(stringInterpolation: Interpolation) {
    text = stringInterpolation.text
    refusedSegment = stringInterpolation.dotSegment()
  }

  /// The path, the values of its query masked.
  public var description: String { Redaction.url(text) }

  /// Collects the pieces of a path.
  public struct Interpolation: StringInterpolationProtocol, Sendable {
    fileprivate var text = ""
    private var variables: [Range<Int>] = []

    /// Makes room for the pieces.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 12 * interpolationCount)
    }

    /// Adds a piece that the programmer wrote.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a variable: every character but letters, digits and `-._~` is escaped.
    public mutating func appendInterpolation(_ variable: some CustomStringConvertible) {
      append(PercentEncoding.value(variable.description))
    }

    /// Adds a variable that may hold slashes, such as the path of a file; each of its segments is escaped.
    public mutating func appendInterpolation(segments variable: String) {
      // Over bytes: a mark behind a slash would make one character of both.
      let segments = variable.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
      append(segments.map { PercentEncoding.value(String(Substring($0))) }.joined(separator: "/"))
    }

    private mutating func append(_ escaped: String) {
      let start = text.utf8.count
      text += escaped
      variables.append(start..<text.utf8.count)
    }

    /// The first segment that is `.` or `..` and has a variable in it, be it an empty one.
    fileprivate func dotSegment() -> String? {
      guard !variables.isEmpty, text.utf8.contains(0x2E) else { return nil }
      var start = 0
      let path = text.prefix { $0 != "?" && $0 != "#" }
      for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
        let range = start..<(start + segment.utf8.count)
        let isVariable = variables.contains { $0.lowerBound <= range.upperBound && $0.upperBound >= range.lowerBound }
        if isVariable, segment == "." || segment == ".." {
          return String(segment)
        }
        start = range.upperBound + 1
      }
      return nil
    }
  }
}
