/// The status codes that a call accepts as success.
///
/// ```swift
/// var statusRule: StatusRule { [200, 404] }          // or .range(200...299), .any
/// ```
public struct StatusRule: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
  /// The accepted codes. If the rule is inherited, the codes of the inherited rule are accepted in addition.
  package let ranges: [ClosedRange<Int>]
  private let isInherited: Bool

  package init(ranges: [ClosedRange<Int>]) { self.init(ranges, isInherited: false) }

  private init(_ ranges: [ClosedRange<Int>], isInherited: Bool) {
    self.ranges = ranges
    self.isInherited = isInherited
  }

  /// The rule of the request's family, or otherwise of the client. `.inherited.or([404])` accepts 404 in addition.
  public static let inherited = StatusRule([], isInherited: true)

  /// 200 to 299, the default rule.
  public static let success = StatusRule(ranges: [200...299])
  /// Every status.
  public static let any = StatusRule(ranges: [0...999])

  /// Accepts the codes of a range.
  public static func range(_ codes: ClosedRange<Int>) -> StatusRule { StatusRule(ranges: [codes]) }

  /// Accepts the codes of a list.
  public init(arrayLiteral codes: Int...) { self.init(ranges: codes.map { $0...$0 }) }

  /// Returns a rule that accepts the codes of both rules.
  public func or(_ other: StatusRule) -> StatusRule {
    StatusRule(ranges + other.ranges, isInherited: isInherited || other.isInherited)
  }

  /// Returns the rule with the codes that it inherits from `other`.
  package func filled(by other: StatusRule?) -> StatusRule {
    guard isInherited, let other else { return self }
    return ranges.isEmpty ? other : StatusRule(ranges + other.ranges, isInherited: other.isInherited)
  }

  /// Whether a status is accepted as success.
  public func accepts(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

  /// Whether only the beginning of the body is kept if the body exceeds the size limit. With other statuses the call
  /// fails. For errors (400 and higher) the status is evaluated, so that a credential refresh or a retry works whatever
  /// page the server sends.
  package static func mayBeCut(_ status: Int) -> Bool { status >= 400 }

  /// Whether the status is a redirect to another URL (RFC 9110 section 15.4).
  package static func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// The codes as text, such as `200–299`.
  public var description: String {
    if ranges.isEmpty { return isInherited ? "inherited" : "no status at all" }
    let codes = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }.joined(
      separator: ", ")
    return isInherited ? "inherited, \(codes)" : codes
  }
}
