import ErrandCore

extension HTTPDate {
  /// Reads a date in one of the three forms; nil for anything else.
  static func read(_ text: String, now: WallTime) -> WallTime? {
    milliseconds(of: text, now: now.milliseconds).map { WallTime(milliseconds: $0) }
  }

  /// Writes a date in the preferred form, held to the years 0 to 9999.
  static func text(_ time: WallTime) -> String { text(milliseconds: time.milliseconds) }
}
