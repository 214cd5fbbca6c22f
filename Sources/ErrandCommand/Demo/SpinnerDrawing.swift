/// Turns a spinner on a line of the terminal, from its showing to its hiding.
@MainActor
final class SpinnerDrawing {
  private static let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

  private let draw: (@MainActor (String) -> Void)?
  private var turning: Task<Void, Never>?

  /// Makes a spinner that draws by a function; one without draws nothing.
  init(draw: (@MainActor (String) -> Void)?) { self.draw = draw }

  /// Shows or hides it.
  func show(_ isShown: Bool) {
    turning?.cancel()
    turning = nil
    guard let draw else { return }
    guard isShown else { return draw("") }
    turning = Task { @MainActor in
      var turn = 0
      while !Task.isCancelled {
        draw("            \(Self.frames[turn % Self.frames.count]) loading …")
        turn += 1
        try? await Task.sleep(for: .milliseconds(80))
      }
    }
  }
}
