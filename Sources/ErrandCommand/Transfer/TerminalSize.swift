import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How many lines and columns a terminal has.
struct TerminalSize: Sendable, Equatable {
  var columns: Int
  var rows: Int

  /// What is taken where nothing is known.
  static let usual = TerminalSize(columns: 80, rows: 24)

  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// The size of a stream's terminal, as it is now; else by `COLUMNS` and `LINES`, else the usual one.
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
