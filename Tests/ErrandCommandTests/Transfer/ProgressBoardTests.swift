import Testing

@testable import ErrandCommand

struct ProgressBoardTests {
  private static let size = TerminalSize(columns: 40, rows: 6)

  private func state(_ name: String, _ phase: ProgressState.Phase = .running) -> ProgressState {
    ProgressState(name: name, phase: phase, bytes: 10, total: 100)
  }

  @Test func `a frame overwrites the last one`() {
    var board = ProgressBoard()
    let first = board.frame(live: [state("a"), state("b")], size: Self.size)
    let line = ProgressLine(columns: 39, nameColumns: 1)
    let lines = [state("a"), state("b")].map { "\r\(line.text($0))\u{1B}[K\n" }.joined()
    #expect(first == "\u{1B}[?7l\(lines)\u{1B}[J\u{1B}[?7h")
    #expect(first.contains("\ra      10 %\u{1B}[K\n"))
    let second = board.frame(live: [state("a"), state("b")], size: Self.size)
    #expect(second == first.replacing("\u{1B}[?7l", with: "\u{1B}[?7l\u{1B}[2A"))
  }

  @Test func `ended transfers stay above`() {
    var screen = Screen()
    var board = ProgressBoard()
    screen.write(board.frame(live: [state("a"), state("b"), state("c")], size: Self.size))
    screen.write(board.frame(over: [state("b", .failed("no"))], live: [state("a"), state("c")], size: Self.size))
    #expect(screen.names == ["b", "a", "c"])
    screen.write(board.frame(live: [state("a"), state("c")], size: Self.size))
    #expect(screen.names == ["b", "a", "c"])
    screen.write(board.frame(over: [state("c", .done)], live: [state("a")], size: Self.size))
    screen.write(board.frame(over: [state("a", .done)], live: [], size: Self.size))
    #expect(screen.names == ["b", "c", "a"])
    #expect(screen.lines[0].hasSuffix("no"))
    screen.write("next\n")
    #expect(screen.names == ["b", "c", "a", "next"])
    #expect(!screen.hasEscaped)
  }

  @Test func `excess transfers become a count`() {
    var screen = Screen()
    var board = ProgressBoard()
    let many = (1...9).map { state("f\($0)") }
    screen.write(board.frame(live: many, size: Self.size))
    #expect(screen.names == ["f1", "f2", "f3", "f4", "…"])
    #expect(screen.lines.last == "… and 5 more")
    screen.write(board.frame(live: Array(many.prefix(5)), size: Self.size))
    #expect(screen.names == ["f1", "f2", "f3", "f4", "f5"])
    screen.write(board.frame(live: Array(many.prefix(2)), size: Self.size))
    #expect(screen.names == ["f1", "f2"])
  }

  @Test(arguments: [(1, 1), (2, 1), (1, 2), (0, 0), (-1, -1)])
  func `tiny terminals are supported`(columns: Int, rows: Int) {
    var screen = Screen()
    var board = ProgressBoard()
    for _ in 0..<3 {
      screen.write(board.frame(live: [state("a"), state("b")], size: TerminalSize(columns: columns, rows: rows)))
    }
    #expect(screen.lines.count == 1)
  }

  @Test func `no transfers draw nothing`() {
    var board = ProgressBoard()
    #expect(board.frame(live: [], size: Self.size).isEmpty)
    _ = board.frame(live: [state("a")], size: Self.size)
    #expect(board.frame(live: [], size: Self.size) == "\u{1B}[?7l\u{1B}[1A\u{1B}[J\u{1B}[?7h")
  }

  @Test func `the terminal's size is determined`() {
    for environment in [[:], ["COLUMNS": "0", "LINES": "x"], ["COLUMNS": "-1", "LINES": "99999999999"]] {
      let size = TerminalSize(of: .output, environment: environment)
      #expect((2...10_000).contains(size.columns) && (2...10_000).contains(size.rows))
    }
    guard !Terminal.isTerminal(.output) else { return }
    let told = TerminalSize(of: .output, environment: ["COLUMNS": "132", "LINES": "50"])
    #expect(told == TerminalSize(columns: 132, rows: 50))
  }
}
