/// Writes the log lines of one call.
package struct CallLog: Sendable {
  let id: UInt64
  let write: @Sendable (LogLine) -> Void

  /// A function that logs an informational (1xx) response.
  var informational: @Sendable (ResponseHead) -> Void { { info("\($0.status) \($0.reason)") } }

  /// Writes a text as one line of the log. Line breaks and other control characters, which may come from a server, are
  /// escaped.
  package func info(_ text: @autoclosure () -> String) {
    write(LogLine(level: .info, call: id, text: Redaction.visible(text())))
  }
}

/// One line of a client's log. It contains no secrets.
public struct LogLine: Sendable, Hashable, CustomStringConvertible {
  /// The severity of a log line.
  public enum Level: Sendable, Hashable {
    /// The line reports a normal event.
    case info
    /// The line reports an event that needs attention.
    case warning
  }

  /// The severity of the line.
  public let level: Level
  /// The number of the call; nil if the line belongs to no call.
  public let call: UInt64?
  /// The message of the line.
  public let text: String

  /// The line as one text: its severity, the number of its call, and its message.
  public var description: String { "\(level)\(call.map { " #\($0)" } ?? ""): \(text)" }
}
