/// Draws several transfers on a terminal, one line each, over and over in the same place.
///
/// The lines that are under way stand at the bottom; those that are over stay above for good. A frame is one piece of
/// text that overwrites line by line and erases nothing before it writes, so nothing flickers. It leaves the cursor on
/// an empty line below.
struct ProgressBoard {
  private static let escape = "\u{1B}["
  /// How many lines the last frame left to be drawn over.
  private var liveLines = 0
  private let paint: Paint

  init(paint: Paint = .plain) { self.paint = paint }

  /// The text that draws the next frame.
  ///
  /// - Parameters:
  ///   - over: Transfers that have ended since the last frame.
  ///   - live: Transfers under way, in the order of their lines.
  ///   - size: The terminal's size.
  mutating func frame(over: [ProgressState] = [], live: [ProgressState], size: TerminalSize) -> String {
    let lines = Self.lines(over: over, live: live, size: size, paint: paint)
    defer { liveLines = lines.live.count }
    let all = lines.over + lines.live
    guard !all.isEmpty || liveLines > 0 else { return "" }
    let up = liveLines > 0 ? "\(Self.escape)\(liveLines)A" : ""
    // Without wrapping (mode 7) even a character whose width was misjudged cannot make a line into two.
    let body = all.map { "\r\($0)\(Self.escape)K\n" }.joined()
    return "\(Self.escape)?7l\(up)\(body)\(Self.escape)J\(Self.escape)?7h"
  }

  private static func lines(
    over: [ProgressState], live: [ProgressState], size: TerminalSize, paint: Paint
  ) -> (over: [String], live: [String]) {
    // The last column stays free: some terminals go to the next line behind it.
    let columns = max(1, size.columns - 1)
    let names = (over + live).map { TextLayout.width(ProgressLine.harmless($0.name)) }
    let line = ProgressLine(columns: columns, nameColumns: min(names.max() ?? 0, 24), paint: paint)
    let room = max(1, size.rows - 1)
    let shown = live.count > room ? max(0, room - 1) : live.count
    var lines = live.prefix(shown).map(line.text)
    if shown < live.count {
      lines.append(TextLayout.shortened("… and \(live.count - shown) more", to: columns, keepsEnd: false))
    }
    return (over.map(line.text), lines)
  }
}
