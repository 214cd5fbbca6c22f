/// Writes the lines of one call.
struct CallLog: Sendable {
  let id: UInt64
  let write: @Sendable (LogLine) -> Void

  /// Writes an informational answer.
  var informational: @Sendable (ResponseHead) -> Void { { info("\($0.status) \($0.reason)") } }

  func info(_ text: @autoclosure () -> String) { write(LogLine(level: .info, call: id, text: text())) }
  func warning(_ text: @autoclosure () -> String) { write(LogLine(level: .warning, call: id, text: text())) }
}
