/// Draws several transfers on a terminal, one line each, repeatedly in the same place.
///
/// Running transfers are at the bottom; the lines of ended transfers stay above them. A frame is one text that
/// overwrites the lines and erases nothing before writing, so that the display does not flicker. After a frame, the
/// cursor is on an empty line below the transfers.
struct ProgressBoard {
  private static let escape = "\u{1B}["
  /// The number of lines that the next frame overwrites: the lines of running transfers in the last frame.
  private var liveLines = 0
  private let paint: Paint

  init(paint: Paint = .plain) { self.paint = paint }

  /// The text that draws the next frame.
  ///
  /// - Parameters:
  ///   - over: Transfers that have ended since the last frame.
  ///   - live: The running transfers, in the order of their lines.
  ///   - size: The size of the terminal.
  mutating func frame(over: [ProgressState] = [], live: [ProgressState], size: TerminalSize) -> String {
    let lines = Self.lines(over: over, live: live, size: size, paint: paint)
    defer { liveLines = lines.live.count }
    let all = lines.over + lines.live
    guard !all.isEmpty || liveLines > 0 else { return "" }
    let up = liveLines > 0 ? "\(Self.escape)\(liveLines)A" : ""
    // Line wrapping is disabled (mode 7), so that a character with a misjudged width cannot break a line into two.
    let body = all.map { "\r\($0)\(Self.escape)K\n" }.joined()
    return "\(Self.escape)?7l\(up)\(body)\(Self.escape)J\(Self.escape)?7h"
  }

  private static func lines(
    over: [ProgressState], live: [ProgressState], size: TerminalSize, paint: Paint
  ) -> (over: [String], live: [String]) {
    // The last column of the terminal stays empty, because some terminals begin a new line after it.
    let columns = max(1, size.columns - 1)
    let names = (over + live).map { TextLayout.width(ProgressLine.harmless($0.name)) }
    let line = ProgressLine(columns: columns, nameColumns: min(names.max() ?? 0, 24), paint: paint)
    let height = max(1, size.rows - 1)
    let shown = live.count > height ? max(0, height - 1) : live.count
    var lines = live.prefix(shown).map(line.text)
    if shown < live.count {
      lines.append(TextLayout.shortened("… and \(live.count - shown) more", to: columns, keepsEnd: false))
    }
    return (over.map(line.text), lines)
  }
}
