/// Writes the log lines of one call.
package struct CallLog: Sendable {
  let id: UInt64
  let write: @Sendable (LogLine) -> Void

  /// Writes an informational (1xx) response.
  var informational: @Sendable (ResponseHead) -> Void { { info("\($0.status) \($0.reason)") } }

  /// Writes a text as one line, whatever characters a server put into it.
  package func info(_ text: @autoclosure () -> String) {
    write(LogLine(level: .info, call: id, text: Redaction.visible(text())))
  }
}

/// One line of a client's log. It contains no secrets.
public struct LogLine: Sendable, Hashable, CustomStringConvertible {
  /// The severity of a line.
  public enum Level: String, Sendable, Hashable {
    /// A normal event.
    case info
    /// An event that needs attention.
    case warning
  }

  /// The severity.
  public let level: Level
  /// The number of the call; nil if the line belongs to no call.
  public let call: UInt64?
  /// The message.
  public let text: String

  /// The severity, the call and the message.
  public var description: String { "\(level.rawValue)\(call.map { " #\($0)" } ?? ""): \(text)" }
}
