import ErrandCore

extension HTTPDate {
  /// Parses a date in one of the three formats of RFC 9110; nil for any other text.
  static func read(_ text: String, now: WallTime) -> WallTime? {
    milliseconds(of: text, now: now.milliseconds).map { WallTime(milliseconds: $0) }
  }

  /// Formats a point in time in the preferred date format of RFC 9110. Years are clamped to the range from 0 to 9999.
  static func text(_ time: WallTime) -> String { text(milliseconds: time.milliseconds) }
}
