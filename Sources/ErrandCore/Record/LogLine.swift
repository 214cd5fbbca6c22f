/// One line of a client's log. Holds no secret.
public struct LogLine: Sendable, Hashable, CustomStringConvertible {
  /// How much it matters.
  public enum Level: String, Sendable, Hashable {
    /// What happens in the ordinary way.
    case info
    /// What somebody should look at.
    case warning
  }

  /// How much it matters.
  public let level: Level
  /// The number of the call it is about; nil for none.
  public let call: UInt64?
  /// The text.
  public let text: String

  /// Level, call and text.
  public var description: String { "\(level.rawValue)\(call.map { " #\($0)" } ?? ""): \(text)" }
}
