import Foundation

/// Makes events of lines (HTML Living Standard, section 9.2.6, "Interpreting an event stream").
struct EventParser {
  /// Where to go on after a break: the identifier of the last event that came whole.
  private(set) var lastID: String
  /// Whether an event that came whole has said one; also none is one.
  private(set) var hasID: Bool
  /// How long the server wants to be left alone after a break; nil where it has not said.
  private(set) var retry: Duration?

  private let limit: Int
  private var isFirst = true
  private var type = ""
  private var data = ""
  private var id: String
  private var isIDSaid: Bool

  /// - Parameter limit: How many bytes an event may have.
  init(lastID: String = "", hasID: Bool = false, limit: Int) {
    self.lastID = lastID
    self.hasID = hasID
    self.limit = limit
    id = lastID
    isIDSaid = hasID
  }

  /// The event that a line ends; nil for a line that ends none.
  mutating func take(_ bytes: Data) throws(LineSplitter.TooLong) -> ServerSentEvent? {
    var line = bytes
    if isFirst, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
    isFirst = false
    if line.isEmpty { return finished() }
    let name = line.prefix { $0 != 0x3A }
    var value = line.dropFirst(name.count + 1)
    if value.first == 0x20 { value = value.dropFirst() }
    // What is not UTF-8 is replaced, as the standard has it.
    try take(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    return nil
  }

  private mutating func take(_ name: String, _ value: String) throws(LineSplitter.TooLong) {
    switch name {
    case "event": type = value
    case "data":
      guard data.utf8.count + value.utf8.count < limit else { throw LineSplitter.TooLong(limit: limit) }
      data += value + "\n"
    // One that could not be sent back is none.
    case "id": if value.utf8.allSatisfy({ ASCII.isFieldValue($0) }) { (id, isIDSaid) = (value, true) }
    case "retry": retry = Self.milliseconds(value) ?? retry
    default: break
    }
  }

  private mutating func finished() -> ServerSentEvent? {
    (lastID, hasID) = (id, isIDSaid)
    defer { (type, data) = ("", "") }
    guard !data.isEmpty else { return nil }
    return ServerSentEvent(type: type.isEmpty ? "message" : type, data: String(data.dropLast()), id: lastID)
  }

  /// Digits alone count; more than a day is a day.
  private static func milliseconds(_ text: String) -> Duration? {
    guard !text.isEmpty, text.utf8.allSatisfy({ ASCII.isDigit($0) }) else { return nil }
    return .milliseconds(min(Int(text) ?? .max, 86_400_000))
  }
}
