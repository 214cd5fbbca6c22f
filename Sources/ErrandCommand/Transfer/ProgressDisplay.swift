import Errand
import ErrandSupport

/// Displays the progress of transfers from any thread: bars on a terminal, lines in a pipe.
final class ProgressDisplay: Sendable {
  /// The form in which the progress is displayed.
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

  /// Creates a display for a stream: bars for a terminal, otherwise lines.
  convenience init(on stream: Terminal.Stream) {
    let kind: Kind =
      Terminal.isTerminal(stream)
      ? .bars(Terminal.paint(for: stream)) { TerminalSize(of: stream) } : .lines
    self.init(kind) { Terminal.write($0, to: stream) }
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
