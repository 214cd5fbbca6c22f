import Errand
import ErrandSupport

/// Displays the progress of transfers from any thread: bars on a terminal, lines in a pipe.
final class ProgressDisplay: Sendable {
  enum Kind: Sendable {
    /// The progress is drawn as bars on a terminal. `size` returns the size of the terminal and is called for each
    /// frame.
    case bars(Paint, size: @Sendable () -> TerminalSize)
    /// The progress is printed as lines, because the output is a pipe or a file, or because of `-v`.
    case lines
  }

  private struct State: Sendable {
    var transfers: [ProgressState] = []
    var logs: [ProgressLog] = []
    /// The numbers of the transfers whose final line has been printed.
    var ended: Set<Int> = []
    var board: ProgressBoard
    /// The output that still has to be written to the terminal, the pipe or the file.
    var pending = ""
    /// Whether a thread is writing. That thread continues until no text is pending, so that the frames stay in order.
    var isWriting = false
  }

  private let kind: Kind
  private let write: @Sendable (String) -> Void
  private let state: Locked<State>

  /// Creates a display that passes its text to a function. The function is never called by two threads at the same
  /// time.
  init(_ kind: Kind, write: @escaping @Sendable (String) -> Void) {
    self.kind = kind
    self.write = write
    let paint = if case .bars(let paint, _) = kind { paint } else { Paint.plain }
    state = Locked(State(board: ProgressBoard(paint: paint)))
  }

  /// Creates a display on standard error: bars on a terminal that can move its cursor, otherwise lines. With `-v`, the
  /// display consists of lines, because the other output of `-v` would interrupt bars. If the command is quiet, the
  /// result is nil.
  convenience init?(isQuiet: Bool, isVerbose: Bool) {
    if isQuiet { return nil }
    let hasBars = !isVerbose && Terminal.isTerminal(.error) && Terminal.movesCursor()
    let kind: Kind = hasBars ? .bars(Terminal.paint(for: .error)) { TerminalSize(of: .error) } : .lines
    self.init(kind) { Terminal.write($0, to: .error) }
  }

  /// Adds a transfer below the other transfers. Returns the number of the transfer for ``report(_:of:)``.
  func add(_ transfer: ProgressState) -> Int {
    let number = state.withLock { state in
      state.transfers.append(transfer)
      state.logs.append(ProgressLog())
      return state.transfers.count - 1
    }
    report(transfer, of: number)
    return number
  }

  /// Displays the state of a transfer. An ended transfer ignores further reports.
  func report(_ transfer: ProgressState, of number: Int) {
    let size = if case .bars(_, let size) = kind { size() } else { TerminalSize?.none }
    let isWriter = state.withLock { state in
      guard state.transfers.indices.contains(number), !state.ended.contains(number) else { return false }
      state.transfers[number] = transfer
      if transfer.isOver { state.ended.insert(number) }
      state.pending += Self.text(transfer, number, size, &state)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    guard isWriter else { return }
    while let text = takePending() { write(text) }
  }

  private func takePending() -> String? {
    state.withLock { state in
      defer { state.pending = "" }
      state.isWriting = !state.pending.isEmpty
      return state.isWriting ? state.pending : nil
    }
  }

  private static func text(
    _ transfer: ProgressState, _ number: Int, _ size: TerminalSize?, _ state: inout State
  ) -> String {
    guard let size else { return state.logs[number].lines(transfer).map { "\($0)\n" }.joined() }
    let live = state.transfers.indices.filter { !state.ended.contains($0) }.map { state.transfers[$0] }
    return state.board.frame(over: transfer.isOver ? [transfer] : [], live: live, size: size)
  }
}

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
    let names = (over + live).map { TextLayout.width(PlainText.visible($0.name)) }
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

/// Reports the progress of one transfer in whole lines, for a pipe or a file: at its start, after each tenth of the
/// bytes, and at its end. If the total is unknown, a line is printed after 1 MiB and after each doubling of the amount.
struct ProgressLog {
  private var hasBegun = false
  private var bytes: Int64 = 0
  private var tenth = 0
  private var mark: Int64 = 1 << 20
  private var isOver = false

  /// The lines to print for a new state, without line feeds. For most states, there are none.
  mutating func lines(_ state: ProgressState) -> [String] {
    guard !isOver, state.phase != .waiting else { return [] }
    let name = PlainText.visible(state.name)
    let lines = [beginning(state), step(state), ending(state)].compactMap { $0 }
    bytes = state.bytes
    return lines.map { "\(name): \($0)" }
  }

  private mutating func beginning(_ state: ProgressState) -> String? {
    guard !hasBegun || state.bytes < bytes else { return nil }
    let isResumed = !hasBegun && state.kept > 0 && state.bytes >= state.kept
    let verb = isResumed ? "resumes" : hasBegun ? "starts over" : "starts"
    hasBegun = true
    tenth = (state.percent ?? 0) / 10
    mark = max(1 << 20, Self.doubled(state.bytes))
    if state.isOver { return nil }
    if state.bytes > 0, verb != "starts" { return "\(verb) at \(Self.amount(state))" }
    return state.total.map { "\(verb), \(Wording.bytes($0))" } ?? verb
  }

  private mutating func step(_ state: ProgressState) -> String? {
    guard !state.isOver, state.total.map({ state.bytes < $0 }) ?? true else { return nil }
    if let percent = state.percent {
      guard percent / 10 > tenth else { return nil }
      tenth = percent / 10
      return ["\(tenth * 10) %", Self.amount(state), state.rate.map(Wording.rate)].compactMap { $0 }
        .joined(separator: ", ")
    }
    guard state.bytes >= mark else { return nil }
    mark = Self.doubled(state.bytes)
    return [Wording.bytes(state.bytes), state.rate.map(Wording.rate)].compactMap { $0 }.joined(separator: ", ")
  }

  private mutating func ending(_ state: ProgressState) -> String? {
    isOver = state.isOver
    switch state.phase {
    case .waiting, .running: return nil
    case .done: return ProgressLine.summary(state)
    case .stopped(let words), .failed(let words): return PlainText.visible(words)
    }
  }

  private static func amount(_ state: ProgressState) -> String {
    state.total.map { "\(Wording.bytes(state.bytes)) of \(Wording.bytes($0))" } ?? Wording.bytes(state.bytes)
  }

  private static func doubled(_ bytes: Int64) -> Int64 {
    let (double, overflow) = bytes.multipliedReportingOverflow(by: 2)
    return overflow ? .max : double
  }
}
