import ErrandCore
import Foundation

extension ScriptedAnswer {
  /// The answer as if it came now: `Date` says so, and `Expires` is as far from it as it was. A cache would take what was
  /// recorded long ago for as old as it is, and a test would fail by the calendar.
  func movedToPresent(_ now: Int64 = Int64(Date.now.timeIntervalSince1970 * 1_000)) -> ScriptedAnswer {
    guard let date = Self.milliseconds(of: head.fields[.date], now), date < now else { return self }
    var answer = self
    answer.head.fields[.date] = HTTPDate.text(milliseconds: now)
    if let expires = Self.milliseconds(of: head.fields["Expires"], now) {
      answer.head.fields["Expires"] = HTTPDate.text(milliseconds: now &+ (expires &- date))
    }
    return answer
  }

  private static func milliseconds(of text: String?, _ now: Int64) -> Int64? {
    text.flatMap { HTTPDate.milliseconds(of: $0, now: now) }
  }
}
