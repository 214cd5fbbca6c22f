import ErrandSupport
import Testing

@testable import ErrandCommand

struct ProgressDisplayTests {
  private final class Paper: Sendable {
    private let pieces = Locked<[String]>([])
    var text: String { pieces.withLock { $0.joined() } }
    var count: Int { pieces.withLock { $0.count } }
    func write(_ piece: String) { pieces.withLock { $0.append(piece) } }
  }

  @Test func `lines of several transfers are interleaved`() {
    let paper = Paper()
    let display = ProgressDisplay(.lines) { paper.write($0) }
    let a = display.add(ProgressState(name: "a", total: 10))
    let b = display.add(ProgressState(name: "b", phase: .waiting, total: 10))
    display.report(ProgressState(name: "a", bytes: 5, total: 10), of: a)
    display.report(ProgressState(name: "b", bytes: 0, total: 10), of: b)
    display.report(ProgressState(name: "a", phase: .done, bytes: 10, total: 10), of: a)
    display.report(ProgressState(name: "a", phase: .failed("late"), bytes: 10, total: 10), of: a)
    display.report(ProgressState(name: "c"), of: 7)
    #expect(
      paper.text == "a: starts, 10 bytes\na: 50 %, 5 bytes of 10 bytes\nb: starts, 10 bytes\na: done, 10 bytes\n")
  }

  @Test func `bars use the current terminal size`() {
    let paper = Paper()
    let box = SizeBox(size: .init(columns: 30, rows: 10))
    let display = ProgressDisplay(.bars(.plain, size: { box.value })) { paper.write($0) }
    let number = display.add(ProgressState(name: "a", total: 10))
    box.set(.init(columns: 100, rows: 10))
    display.report(ProgressState(name: "a", bytes: 5, total: 10), of: number)
    #expect(paper.text.contains("[") && paper.text.contains("=>"))
    display.report(ProgressState(name: "a", phase: .done, bytes: 10, total: 10), of: number)
    #expect(paper.text.contains("done, 10 bytes"))
    #expect(paper.count == 3)
  }

  private final class SizeBox: Sendable {
    private let size: Locked<TerminalSize>
    init(size: TerminalSize) { self.size = Locked(size) }
    var value: TerminalSize { size.withLock { $0 } }
    func set(_ new: TerminalSize) { size.withLock { $0 = new } }
  }

  @Test func `concurrent reports lose no line`() async {
    let paper = Paper()
    let display = ProgressDisplay(.lines) { paper.write($0) }
    await withTaskGroup { group in
      for name in 0..<20 {
        group.addTask {
          let number = display.add(ProgressState(name: "f\(name)", total: 100))
          for bytes in 1...100 {
            display.report(ProgressState(name: "f\(name)", bytes: Int64(bytes), total: 100), of: number)
          }
          display.report(ProgressState(name: "f\(name)", phase: .done, bytes: 100, total: 100), of: number)
        }
      }
    }
    let lines = paper.text.split(separator: "\n")
    #expect(lines.count == 20 * 11)
    for name in 0..<20 {
      #expect(lines.last { $0.hasPrefix("f\(name): ") }?.hasSuffix("done, 100 bytes") == true)
    }
  }
}
