/// Reads the components of an HTTP date one after the other, byte by byte.
struct HTTPDateReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether all bytes of the date text have been read.
  var isAtEnd: Bool { place == bytes.count }

  /// Reads `text` at the current position, without regard to case. Returns false and reads nothing if other bytes
  /// follow.
  mutating func take(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - place >= count else { return false }
    for index in 0..<count
    where ASCII.lowercased(bytes[place + index]) != ASCII.lowercased(text.utf8Start[index]) { return false }
    place += count
    return true
  }

  /// Reads one of the given words at the current position and returns its index in `words`; nil if none of the words
  /// follows.
  mutating func word(of words: [StaticString]) -> Int? {
    for (index, word) in words.enumerated() where take(word) { return index }
    return nil
  }

  /// Reads a number with exactly `width` digits at the current position; nil if other bytes follow.
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

  /// Reads a time such as `08:49:37` and returns it as seconds since midnight. A leap second counts as the first second
  /// of the next minute.
  mutating func clock() -> Int64? {
    guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2), hour < 24,
      minute < 60, second <= 60
    else { return nil }
    return (hour * 60 + minute) * 60 + second
  }
}
