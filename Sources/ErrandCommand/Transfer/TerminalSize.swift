import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The size of a terminal in lines and columns.
struct TerminalSize: Sendable, Equatable {
  var columns: Int
  var rows: Int

  /// The size to assume if the size of the terminal is unknown.
  static let usual = TerminalSize(columns: 80, rows: 24)

  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// Determines the present size of a stream's terminal. If the system does not know the size, the environment
  /// variables `COLUMNS` and `LINES` determine the size. Without these variables, the size is ``usual``.
  init(
    of stream: Terminal.Stream, environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    var size = winsize()
    let isKnown = ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0
    func number(_ known: UInt16, _ variable: String) -> Int? {
      if isKnown, known > 0 { return Int(known) }
      return environment[variable].flatMap { Int($0) }.flatMap { (1...10_000).contains($0) ? $0 : nil }
    }
    columns = number(size.ws_col, "COLUMNS") ?? Self.usual.columns
    rows = number(size.ws_row, "LINES") ?? Self.usual.rows
  }
}
