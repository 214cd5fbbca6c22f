import ErrandCore

/// Takes a date apart, byte by byte.
struct HTTPDateReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text.utf8[...] }

  /// Whether nothing is left.
  var isAtEnd: Bool { rest.isEmpty }

  /// Takes a text; false where another one comes.
  mutating func take(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  /// Takes one of several words and tells its place.
  mutating func word(of words: [String]) -> Int? {
    guard let place = words.firstIndex(where: { rest.starts(with: $0.utf8) }) else { return nil }
    rest = rest.dropFirst(words[place].utf8.count)
    return place
  }

  /// Takes a number of so many digits.
  mutating func number(_ width: Int) -> Int64? {
    let digits = rest.prefix(width)
    guard digits.count == width, digits.allSatisfy({ ASCII.isDigit($0) }) else { return nil }
    rest = rest.dropFirst(width)
    return digits.reduce(0) { $0 * 10 + Int64($1 &- 0x30) }
  }

  /// Takes `08:49:37`; the seconds of the day. A leap second is the first one of the next minute.
  mutating func clock() -> Int64? {
    guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2), hour < 24,
      minute < 60, second <= 60
    else { return nil }
    return (hour * 60 + minute) * 60 + second
  }
}
