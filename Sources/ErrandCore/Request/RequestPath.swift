import ErrandSupport
public import Foundation

/// The path of a request, or an absolute URL. Each variable in the string literal is escaped separately.
///
/// ```swift
/// var path: Path { "/users/\(id)/files/\(name)" }    // a "/" in `name` becomes %2F
/// ```
///
/// The literal text is used as written: it may contain a query, and its percent-escapes are kept. A variable cannot
/// change the structure of the path: if a variable makes a segment `.` or `..`, or if a variable that is a whole
/// segment is empty, the call fails. The call also fails if a variable is a list without the label `list:` or a number
/// that is not finite, or if the path begins with a variable that is a whole URL; pass such a URL as
/// `RequestPath(text)`.
public struct RequestPath: Sendable, Hashable, ExpressibleByStringInterpolation, Masked {
  /// The text of the path, with variables escaped and the rest as written.
  public let text: String
  /// The reason why a call with this path fails; nil if the path can be sent.
  let refusal: Refusal?
  /// True if the text is a link of a server, which contains its complete query.
  let isLink: Bool

  /// The parts of ``text`` that variables have written; nil if the path was made from an existing string, whose
  /// variables are not known.
  private let variables: Variables?

  /// The parts of a path that variables have written, as ranges of UTF-8 offsets, and the names of named variables.
  fileprivate struct Variables: Sendable {
    var ranges: [Range<Int>] = []
    /// The names, by the place of the variable; nearly always empty.
    var names: [Int: StaticString] = [:]
  }

  /// A variable that cannot be sent as a part of a path.
  enum Refusal: Sendable, Hashable {
    /// The first segment that contains a variable and is `.` or `..`.
    case dotSegment(String)
    /// A variable that is a whole segment is empty.
    case emptySegment
    /// A variable is a number that is not finite.
    case notFinite
    /// A variable is a value of the given type, whose description is not made for servers.
    case unfit(String)
    /// The variable at the beginning of the path is a whole URL. It would be escaped and sent as a segment.
    case wholeURL(String)
  }

  /// Makes a path from an existing string. The string is used as written: its percent-escapes are kept, and nothing is
  /// escaped, because the variables in the string can no longer be recognized. By contrast,
  /// `RequestPath("/users/\(id)")` is a literal, in which `id` is escaped.
  public init(_ text: String) {
    self.text = text
    (refusal, isLink, variables) = (nil, false, nil)
  }

  /// Makes a path from a link that a server sent, such as ``/ErrandHTTP/HTTPResponse/link(_:)`` of a page to the next
  /// page. The link contains its complete query, so neither the arguments of the request nor those of its family and of
  /// the client are added to the query. Arguments that go into a body stay, and filters of the URL still apply.
  ///
  /// ```swift
  /// func next(after page: APIResponse<[Post]>) -> GetPosts? {
  ///   page.raw.link("next").map { GetPosts(path: RequestPath(link: $0)) }
  /// }
  /// ```
  ///
  /// - Parameter link: An absolute URL. Its percent-escapes are kept, and a fragment is not sent. Other text is used as
  ///   a path below the base URL.
  public init(link: String) {
    text = link
    (refusal, isLink, variables) = (nil, true, nil)
  }

  /// Makes a path from a literal.
  public init(stringLiteral value: String) {
    text = value
    (refusal, isLink, variables) = (nil, false, Variables())
  }

  /// Makes a path from a literal with variables, which are escaped.
  public init(stringInterpolation: Interpolation) {
    text = stringInterpolation.text
    refusal = stringInterpolation.refusal ?? stringInterpolation.segmentRefusal()
    isLink = false
    variables = stringInterpolation.variables
  }

  /// The path, with the values of its query masked.
  public var description: String { Redaction.url(text) }

  /// Collects the literal text and the variables of a path.
  public struct Interpolation: StringInterpolationProtocol, Sendable {
    fileprivate var text = ""
    /// The reason why the first unfit variable cannot be sent, whatever the segments are; nil if there is none.
    fileprivate private(set) var refusal: Refusal?
    fileprivate private(set) var variables = Variables()

    /// Reserves memory for the literal text and the variables.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 12 * interpolationCount)
    }

    /// Adds literal text, which is not escaped.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a variable. Every character except ASCII letters, digits and `-._~` is escaped.
    public mutating func appendInterpolation(_ variable: some CustomStringConvertible) {
      let text = escaped(variable)
      append(text)
    }

    /// Adds a variable, which is escaped as an unnamed one, and gives it a name for ``RequestPath/template``.
    public mutating func appendInterpolation(_ variable: some CustomStringConvertible, name: StaticString) {
      variables.names[variables.ranges.count] = name
      appendInterpolation(variable)
    }

    /// Not available. The raw value of an enumeration is written by the caller.
    @available(
      *, unavailable,
      message: "write the raw value, such as `\\(order.rawValue)`, or let the type conform to `CustomStringConvertible`"
    )
    public mutating func appendInterpolation(_ variable: some RawRepresentable) {}

    /// Adds a variable that may contain slashes, such as the path of a file. Each segment of the variable is escaped.
    public mutating func appendInterpolation(segments variable: String) {
      // Splits bytes instead of characters: a slash and a combining mark after it form one character, at which `String`
      // would not split.
      noteWholeURL(variable)
      let segments = variable.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
      append(segments.map { PercentEncoding.value(String(Substring($0))) }.joined(separator: "/"))
    }

    /// Adds a list with a comma between its elements, such as `1,2`. Each element is escaped, also its commas, and the
    /// commas between the elements are not, as in the templates of RFC 6570. The whole list is one variable.
    public mutating func appendInterpolation(list variables: [some CustomStringConvertible]) {
      var texts: [String] = []
      for variable in variables { texts.append(escaped(variable)) }
      append(texts.joined(separator: ","))
    }

    /// The escaped text of a variable. Notes the reason if it cannot be sent.
    private mutating func escaped(_ variable: some CustomStringConvertible) -> String {
      let text = variable.description
      let type = type(of: variable)
      noteWholeURL(text)
      if !Self.isFinite(variable, text) { refuse(.notFinite) }
      // The functions for dates and data have no parameter `name`, so named ones arrive here.
      if type == Date.self || type == Data.self || Self.isList(variable, text) { refuse(.unfit("\(type)")) }
      return PercentEncoding.value(text)
    }

    private mutating func noteWholeURL(_ variable: String) {
      guard text.utf8.isEmpty || text.utf8.elementsEqual("/".utf8), Self.isWholeURL(variable) else { return }
      refuse(.wholeURL(variable))
    }

    private mutating func refuse(_ reason: Refusal) { refusal = refusal ?? reason }

    /// False if a variable is a number that is infinite or not a number. Only texts that begin as "nan", "-inf" or
    /// similar are looked at closely, because a cast to a protocol is slow.
    private static func isFinite(_ variable: some CustomStringConvertible, _ text: String) -> Bool {
      guard let first = text.utf8.first, "nNisS+-".utf8.contains(first) else { return true }
      if let number = variable as? any FloatingPoint { return number.isFinite }
      return (variable as? Decimal)?.isFinite ?? true
    }

    /// True for a list of any type, such as a slice of an array. A cast to a protocol is slow, so only texts that begin
    /// with a bracket are looked at closely.
    private static func isList(_ variable: some CustomStringConvertible, _ text: String) -> Bool {
      text.utf8.first == UInt8(ascii: "[") && (variable is any Collection) && !(variable is any StringProtocol)
    }

    private static func isWholeURL(_ variable: String) -> Bool {
      ["http://", "https://"].contains { scheme in
        ASCII.equalFolded(Array(variable.utf8.prefix(scheme.utf8.count)), Array(scheme.utf8))
      }
    }

    private mutating func append(_ escaped: String) {
      let start = text.utf8.count
      text += escaped
      variables.ranges.append(start..<text.utf8.count)
    }

    /// The reason why the first segment with a variable cannot be sent: it is `.` or `..`, or it is empty because its
    /// variable is. Nil if there is none. A segment `.` or `..` also counts if the text of its variable is empty. Empty
    /// segments inside a variable with `segments:` are kept.
    fileprivate func segmentRefusal() -> Refusal? {
      guard !variables.ranges.isEmpty, text.utf8.contains(0x2E) || variables.ranges.contains(where: \.isEmpty) else {
        return nil
      }
      // Compares bytes instead of characters: a slash and a combining mark after it form one character, at which
      // `String` would not split.
      var start = 0
      let path = text.utf8.prefix { $0 != 0x3F && $0 != 0x23 }
      for segment in path.split(separator: 0x2F, omittingEmptySubsequences: false) {
        let range = start..<(start + segment.count)
        let isVariable = variables.ranges.contains {
          $0.lowerBound <= range.upperBound && $0.upperBound >= range.lowerBound
        }
        if isVariable, segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) {
          return .dotSegment(String(Substring(segment)))
        }
        if segment.isEmpty, variables.ranges.contains(range) { return .emptySegment }
        start = range.upperBound + 1
      }
      return nil
    }
  }
}

extension RequestPath.Interpolation {
  /// Adds a variable that cannot be sent. Its description is not read.
  private mutating func addUnfit(_ type: String) {
    refuse(.unfit(type))
    append(type)
  }

  // These functions are deprecated and not unavailable, because the compiler would then choose the function for any
  // variable with a description. So the compiler warns, and the call fails.

  /// Not allowed: a call with this path fails. A date is written by the caller.
  @available(
    *, deprecated,
    message: "write the date as the server reads it, such as `\\(date.formatted(.iso8601))`"
  )
  public mutating func appendInterpolation(_ variable: Date) {
    addUnfit("Date")
  }

  /// Not allowed: a call with this path fails. Data are written by the caller.
  @available(
    *, deprecated,
    message: "write the data as the server reads them, such as `\\(data.base64EncodedString())`"
  )
  public mutating func appendInterpolation(_ variable: Data) {
    addUnfit("Data")
  }

  /// Not allowed: a call with this path fails. The elements of an array are written by the caller.
  @available(
    *, deprecated,
    message: "write the elements as the server reads them, such as `\\(list: ids)`"
  )
  public mutating func appendInterpolation<Element>(_ variable: [Element]) {
    addUnfit("Array")
  }

  /// Not allowed: a call with this path fails. The elements of a set are written by the caller.
  @available(
    *, deprecated,
    message: "write the elements as the server reads them, such as `\\(list: ids.sorted())`"
  )
  public mutating func appendInterpolation<Element>(_ variable: Set<Element>) {
    addUnfit("Set")
  }

  /// Not allowed: a call with this path fails. The members of a dictionary are arguments.
  @available(
    *, deprecated,
    message: "write names and values into `arguments`"
  )
  public mutating func appendInterpolation<Key, Value>(_ variable: [Key: Value]) {
    addUnfit("Dictionary")
  }
}

extension RequestPath {
  /// The path with a placeholder for each variable and without the query, such as `/users/{id}/files/{2}`. So all paths
  /// that the same literal makes have the same template, which makes it fit for the names of spans and metrics.
  ///
  /// A placeholder contains the name of the variable, as in `"/users/\(user.id, name: "id")"`, or else its number in
  /// the path, starting at 1. Nil if the path was made from an existing string.
  public var template: String? {
    guard let variables else { return nil }
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var end = 0
    for (place, range) in variables.ranges.enumerated() {
      result += bytes[end..<range.lowerBound]
      result += "{\(variables.names[place].map { "\($0)" } ?? "\(place + 1)")}".utf8
      end = range.upperBound
    }
    result += bytes[end...]
    return String(decoding: result.prefix { $0 != 0x3F && $0 != 0x23 }, as: UTF8.self)
  }
}

extension RequestPath: ComparedByBytes {
  package var identity: some Hashable { Parts(ByteText(text), refusal, isLink) }
}
