/// Writes the lines of one call.
package struct CallLog: Sendable {
  let id: UInt64
  let write: @Sendable (LogLine) -> Void

  /// Writes an informational answer.
  var informational: @Sendable (ResponseHead) -> Void { { info("\($0.status) \($0.reason)") } }

  /// Writes a text on one line, whatever a server put into it.
  package func info(_ text: @autoclosure () -> String) {
    write(LogLine(level: .info, call: id, text: Redaction.visible(text())))
  }
}

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
