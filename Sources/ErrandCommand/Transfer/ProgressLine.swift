/// Draws one transfer on one line of a terminal.
///
/// ```
/// film.mkv  [==========>              ]   44 %   460.0 MiB of 1024.0 MiB    83.2 MiB/s   0:07 left
/// ```
///
/// On a narrow terminal, parts are left out: first the total or the bar, then both, then the amount, the rate and the
/// remaining time, in this order.
struct ProgressLine {
  let columns: Int
  /// The maximum width of the name column. It is the same for all lines, so that their bars are aligned.
  let nameColumns: Int
  let paint: Paint

  private static let gap = "  "
  private static let barColumns = 12...42

  init(columns: Int, nameColumns: Int = 24, paint: Paint = .plain) {
    self.columns = max(1, columns)
    self.nameColumns = max(4, nameColumns)
    self.paint = paint
  }

  /// The line without a line feed. The line is never wider than `columns`.
  func text(_ state: ProgressState) -> String {
    let name = PlainText.visible(state.name)
    switch state.phase {
    case .running: return running(name, state)
    case .waiting: return sentence(name, "waiting", .dim)
    case .done: return sentence(name, Self.summary(state), .green)
    case .stopped(let words): return sentence(name, PlainText.visible(words), .yellow)
    case .failed(let words): return sentence(name, PlainText.visible(words), .red)
    }
  }

  static func summary(_ state: ProgressState) -> String {
    let note = state.note.map { ", \($0)" } ?? ""
    guard let elapsed = state.elapsed else { return "done, \(Wording.bytes(state.bytes))\(note)" }
    let rate = state.rate.map { ", \(Wording.rate($0))" } ?? ""
    return "done, \(Wording.bytes(state.bytes)) in \(Wording.duration(elapsed))\(rate)\(note)"
  }

  // MARK: Parts

  private func sentence(_ name: String, _ words: String, _ style: Paint.Style) -> String {
    let name = padded(name)
    let width = columns - TextLayout.width(name) - Self.gap.count
    guard width >= 4 else { return TextLayout.shortened(name, to: columns) }
    return name + Self.gap + paint(style, TextLayout.shortened(words, to: width, keepsEnd: false))
  }

  private func running(_ fullName: String, _ state: ProgressState) -> String {
    let name = padded(fullName)
    let space = columns - TextLayout.width(name)
    for (details, hasBar) in Self.choices(state) {
      let text = details.map { Self.gap + $0 }.joined()
      let shown = Self.trimmed(text)
      let left = space - TextLayout.width(text)
      guard hasBar else {
        if left >= 0 { return name + shown }
        continue
      }
      guard let fraction = state.fraction, left >= Self.gap.count + Self.barColumns.lowerBound else { continue }
      return name + Self.gap + bar(fraction, min(left - Self.gap.count, Self.barColumns.upperBound)) + shown
    }
    let share = Self.gap + (state.percent.map { "\($0) %" } ?? Wording.bytes(state.bytes))
    let rest = columns - share.count
    return rest < 2 ? TextLayout.shortened(fullName, to: columns) : TextLayout.shortened(fullName, to: rest) + share
  }

  /// The texts that can follow the name. The line shows the first of these texts that fits into it. Numbers are padded,
  /// so that the columns keep their width.
  private static func choices(_ state: ProgressState) -> [(details: [String], hasBar: Bool)] {
    let percent = state.percent.map { right("\($0) %", 5) }
    let total = state.total.map(Wording.bytes)
    let bytes = right(Wording.bytes(state.bytes), total?.count ?? 10)
    let amount = total.map { "\(bytes) of \($0)" }
    let rate = right(state.rate.map(Wording.rate) ?? "", 12)
    let left = right(state.timeLeft.map { "\(Wording.clock($0)) left" } ?? "", 10)
    let choices: [(details: [String?], hasBar: Bool)] = [
      ([percent, amount ?? bytes, rate, left], true), ([percent, bytes, rate, left], true),
      ([percent, amount ?? bytes, rate, left], false), ([percent, bytes, rate, left], false),
      ([percent, rate, left], false), ([percent, left], false), ([percent ?? bytes], false),
    ]
    return choices.map { ($0.details.compactMap { $0 }, $0.hasBar) }
  }

  private func bar(_ fraction: Double, _ width: Int) -> String {
    let inner = width - 2
    let filled = Int(fraction * Double(inner))
    let full = String(repeating: "=", count: filled) + (filled < inner ? ">" : "")
    return "[" + paint(.cyan, full) + String(repeating: " ", count: inner - full.count) + "]"
  }

  /// The name, cut or padded to the width of its column. The column takes at most a quarter of the line. On a narrow
  /// line, it takes at most 12 columns or half of the line, whichever is smaller.
  private func padded(_ name: String) -> String {
    let width = max(1, min(nameColumns, max(columns / 4, min(columns / 2, 12))))
    let short = TextLayout.shortened(name, to: width)
    return short + String(repeating: " ", count: width - TextLayout.width(short))
  }

  private static func trimmed(_ text: String) -> String {
    String(text.reversed().drop { $0 == " " }.reversed())
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

/// The state of one transfer for display.
struct ProgressState: Sendable, Equatable {
  enum Phase: Sendable, Equatable {
    /// The transfer has not begun yet, for example because it waits for other transfers.
    case waiting
    case running
    case done
    /// The transfer was stopped on purpose; the text says what was kept.
    case stopped(String)
    /// The transfer failed; the text contains the reason.
    case failed(String)
  }

  /// The name to display. Unsafe characters are replaced when the name is drawn.
  var name: String
  var phase = Phase.running
  /// The number of transferred bytes.
  var bytes: Int64 = 0
  /// The number of bytes that an earlier run had already stored when this transfer started.
  var kept: Int64 = 0
  var total: Int64?
  /// The rate of the transfer in bytes per second; nil if it is unknown.
  var rate: Double?
  /// The estimated time until the end of the transfer; nil if it is unknown.
  var timeLeft: Duration?
  /// The elapsed time since the start of the transfer; nil if it is not displayed.
  var elapsed: Duration?

  /// Additional text for a completed transfer, such as the verified checksums; nil for none.
  var note: String?

  var isOver: Bool {
    switch phase {
    case .waiting, .running: false
    case .done, .stopped, .failed: true
    }
  }

  /// The completed share from 0 to 1; nil if the total is unknown. The value 1 means that the transfer is complete.
  var fraction: Double? {
    if phase == .done { return 1 }
    guard let total else { return nil }
    guard total > 0 else { return 0 }
    return min(max(0, Double(bytes) / Double(total)), 0.999)
  }

  /// The completed share in percent, rounded down; nil if the total is unknown. The value 100 means that the transfer
  /// is complete.
  var percent: Int? { fraction.map { Int($0 * 100) } }
}
