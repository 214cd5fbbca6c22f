import Foundation

/// When a server wants to be asked again (RFC 9110 section 10.2.3).
package enum RetryAfter {
  /// What longer times become: 2³¹ seconds are 68 years.
  private static let ceiling: Int64 = 1 << 31

  /// How long to wait from the moment the answer came; nil where it does not say, or says nothing that can be read or
  /// lies ahead. A date is measured against the answer's own `Date`, else against this machine's clock. Of several
  /// fields the longest counts.
  package static func delay(in fields: HTTPFields, now: @autoclosure () -> Int64 = Self.present) -> Duration? {
    fields.values(of: .retryAfter).compactMap { delay($0, fields, now) }.max()
  }

  private static func delay(_ text: String, _ fields: HTTPFields, _ now: () -> Int64) -> Duration? {
    if let seconds = seconds(text) { return .seconds(seconds) }
    let now = now()
    let dates = fields.values(of: .date)
    let answered = dates.count == 1 ? dates.first.flatMap { HTTPDate.milliseconds(of: $0, now: now) } : nil
    guard let moment = HTTPDate.milliseconds(of: text, now: now) else { return nil }
    let (ahead, overflow) = moment.subtractingReportingOverflow(answered ?? now)
    return overflow || ahead < 0 ? nil : .milliseconds(min(ahead, ceiling * 1_000))
  }

  private static func seconds(_ text: String) -> Int64? {
    guard !text.isEmpty else { return nil }
    var value: Int64 = 0
    for byte in text.utf8 {
      guard ASCII.isDigit(byte) else { return nil }
      value = min(value * 10 + Int64(byte &- 0x30), ceiling)
    }
    return value
  }

  /// Milliseconds since 1970 by the system's clock.
  private static var present: Int64 { Int64(exactly: (Date().timeIntervalSince1970 * 1_000).rounded(.down)) ?? 0 }
}
