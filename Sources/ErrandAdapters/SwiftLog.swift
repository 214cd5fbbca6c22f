#if SwiftLog
  public import ErrandCore
  public import Logging

  extension LogLine {
    /// Returns a closure for `ClientConfiguration.log` that writes each line to a logger of swift-log, with the number of
    /// the call as the metadata `call`. Lines of the level `info` are written as `level`, because a client writes
    /// several for each call.
    ///
    /// ```swift
    /// configuration.log = LogLine.writing(to: Logger(label: "notes.http"))
    /// ```
    public static func writing(
      to logger: Logging.Logger, level: Logging.Logger.Level = .debug
    ) -> @Sendable (LogLine) -> Void {
      { line in
        let metadata: Logging.Logger.Metadata = line.call.map { ["call": "\($0)"] } ?? [:]
        logger.log(level: line.level == .warning ? .warning : level, "\(line.text)", metadata: metadata)
      }
    }
  }
#endif
