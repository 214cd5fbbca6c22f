/// The status codes that a call accepts as success.
///
/// ```swift
/// var validation: ResponseValidation { ResponseValidation(status: [200, 404]) }  // or .range(200...299), .any
/// ```
public struct StatusRule: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
  /// The accepted codes. A rule that inherits accepts the codes of the inherited rule in addition.
  package let ranges: [ClosedRange<Int>]
  private let isInherited: Bool

  package init(ranges: [ClosedRange<Int>]) { self.init(ranges, isInherited: false) }

  private init(_ ranges: [ClosedRange<Int>], isInherited: Bool) {
    self.ranges = ranges
    self.isInherited = isInherited
  }

  /// The inherited rule. A request inherits the rule of its `RequestFamily`, which groups the requests of one API. If
  /// the family has no own rule, the request inherits the rule of the client. `.inherited.or([404])` accepts 404 in
  /// addition.
  public static let inherited = StatusRule([], isInherited: true)

  /// Accepts 200 to 299. This rule is the default of every client.
  public static let success = StatusRule(ranges: [200...299])
  /// Accepts every status.
  public static let any = StatusRule(ranges: [0...999])

  /// Makes a rule that accepts the codes of a range.
  public static func range(_ codes: ClosedRange<Int>) -> StatusRule { StatusRule(ranges: [codes]) }

  /// Makes a rule that accepts the codes of a list.
  public init(arrayLiteral codes: Int...) { self.init(ranges: codes.map { $0...$0 }) }

  /// Returns a rule that accepts the codes of both rules.
  public func or(_ other: StatusRule) -> StatusRule {
    StatusRule(ranges + other.ranges, isInherited: isInherited || other.isInherited)
  }

  /// Returns the rule, completed with the codes that it inherits from `other`.
  package func filled(by other: StatusRule?) -> StatusRule {
    guard isInherited, let other else { return self }
    return ranges.isEmpty ? other : StatusRule(ranges + other.ranges, isInherited: other.isInherited)
  }

  /// Whether a status is accepted as success.
  package func accepts(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

  /// Whether a response with this status may have only the beginning of its body, if the body exceeds the size limit.
  /// True for error responses (400 and higher): their status must lead to a credential refresh or a retry, however long
  /// the error page is. With any other status, the call fails.
  package static func mayBeCut(_ status: Int) -> Bool { status >= 400 }

  /// Whether the status is a redirect to another URL (RFC 9110 section 15.4).
  package static func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// The accepted codes as text, such as `200–299`.
  public var description: String {
    if ranges.isEmpty { return isInherited ? "inherited" : "no status at all" }
    let codes = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }.joined(
      separator: ", ")
    return isInherited ? "inherited, \(codes)" : codes
  }
}
