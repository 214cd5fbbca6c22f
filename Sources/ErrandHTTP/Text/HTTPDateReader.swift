/// Parses a date byte by byte.
struct HTTPDateReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether all bytes are consumed.
  var isAtEnd: Bool { place == bytes.count }

  /// Consumes a text without regard to case. Returns false if the next bytes are different.
  mutating func take(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - place >= count else { return false }
    for index in 0..<count
    where ASCII.lowercased(bytes[place + index]) != ASCII.lowercased(text.utf8Start[index]) { return false }
    place += count
    return true
  }

  /// Consumes one of several words and returns its index.
  mutating func word(of words: [StaticString]) -> Int? {
    for (index, word) in words.enumerated() where take(word) { return index }
    return nil
  }

  /// Consumes a number with the given number of digits.
  mutating func number(_ width: Int) -> Int64? {
    guard bytes.count - place >= width else { return nil }
    var number: Int64 = 0
    for byte in bytes[place..<(place + width)] {
      guard ASCII.isDigit(byte) else { return nil }
      number = number * 10 + Int64(byte &- 0x30)
    }
    place += width
    return number
  }

  /// Consumes a time such as `08:49:37` and returns the second of the day. A leap second counts as the first second of
  /// the next minute.
  mutating func clock() -> Int64? {
    guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2), hour < 24,
      minute < 60, second <= 60
    else { return nil }
    return (hour * 60 + minute) * 60 + second
  }
}
