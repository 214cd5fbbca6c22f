/// Which status codes a call takes for success.
///
/// ```swift
/// var statusRule: StatusRule? { [200, 404] }          // or .range(200...299), .any
/// ```
public struct StatusRule: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
  /// The codes.
  package let ranges: [ClosedRange<Int>]

  package init(ranges: [ClosedRange<Int>]) { self.ranges = ranges }

  /// 200 to 299, the rule where nobody says anything.
  public static let success = StatusRule(ranges: [200...299])
  /// Every status.
  public static let any = StatusRule(ranges: [0...999])

  /// The codes of a range.
  public static func range(_ codes: ClosedRange<Int>) -> StatusRule { StatusRule(ranges: [codes]) }

  /// The codes of a list.
  public init(arrayLiteral codes: Int...) { ranges = codes.map { $0...$0 } }

  /// The codes of either rule.
  public func or(_ other: StatusRule) -> StatusRule { StatusRule(ranges: ranges + other.ranges) }

  /// Whether a status is taken for success.
  public func accepts(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

  /// Whether an answer is read for its status first: of a body that is longer than the limit the beginning will do, so
  /// that a refusal is one, is refreshed for and tried again, whatever page comes with it.
  package static func mayBeCut(_ status: Int) -> Bool { status >= 400 }

  /// Whether an answer sends its client elsewhere (RFC 9110 section 15.4).
  package static func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// The codes, such as `200–299`.
  public var description: String {
    if ranges.isEmpty { return "no status at all" }
    return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }.joined(
      separator: ", ")
  }
}
