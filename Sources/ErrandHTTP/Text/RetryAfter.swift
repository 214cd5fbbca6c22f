/// Reads the field `Retry-After`, which contains the time after which a server accepts the request again (RFC 9110
/// section 10.2.3).
package enum RetryAfter {
  /// The delay between the arrival of the response and the next request; nil if the field is missing, invalid or in the
  /// past. A date is compared with the `Date` of the response, or with this machine's clock if the response has no
  /// `Date`. If the field occurs several times, the longest delay is used.
  package static func delay(in fields: HTTPFields, now: @autoclosure () -> Int64 = HTTPDate.present) -> Duration? {
    fields.values(of: .retryAfter).compactMap { delay($0, fields, now) }.max()
  }

  private static func delay(_ text: String, _ fields: HTTPFields, _ now: () -> Int64) -> Duration? {
    if let seconds = DeltaSeconds.read(text.utf8) { return .seconds(seconds) }
    let now = now()
    let dates = fields.values(of: .date)
    let answered = dates.count == 1 ? dates.first.flatMap { HTTPDate.milliseconds(of: $0, now: now) } : nil
    guard let moment = HTTPDate.milliseconds(of: text, now: now) else { return nil }
    let (ahead, overflow) = moment.subtractingReportingOverflow(answered ?? now)
    return overflow || ahead < 0 ? nil : .milliseconds(min(ahead, DeltaSeconds.ceiling * 1_000))
  }
}

/// Reads a number of seconds in a field value (RFC 9111 section 1.2.2). The value consists of digits only.
package enum DeltaSeconds {
  /// The largest number that is returned; larger numbers are clamped. 2³¹ seconds are 68 years.
  package static let ceiling: Int64 = 1 << 31

  /// The number of seconds; nil if a byte is not a digit, or if there are no bytes.
  package static func read(_ bytes: some Collection<UInt8>) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    var value: Int64 = 0
    for byte in bytes {
      guard ASCII.isDigit(byte) else { return nil }
      value = min(value * 10 + Int64(byte &- 0x30), ceiling)
    }
    return value
  }
}
