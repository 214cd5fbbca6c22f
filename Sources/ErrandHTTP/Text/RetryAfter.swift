/// When a server wants to be asked again (RFC 9110 section 10.2.3).
package enum RetryAfter {
  /// How long to wait from the moment the answer came; nil where it does not say, or says nothing that can be read or
  /// lies ahead. A date is measured against the answer's own `Date`, else against this machine's clock. Of several
  /// fields the longest counts.
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

/// A number of seconds as it stands in fields (RFC 9111 section 1.2.2): digits and nothing else.
package enum DeltaSeconds {
  /// What larger numbers become: 2³¹ seconds are 68 years.
  package static let ceiling: Int64 = 1 << 31

  /// The number; nil where the bytes are no number without a sign.
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
