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
    let name = ProgressLine.harmless(state.name)
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
    case .stopped(let words), .failed(let words): return ProgressLine.harmless(words)
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
