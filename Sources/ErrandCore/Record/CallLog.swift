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
