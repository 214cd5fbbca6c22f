import Errand
import ErrandTesting

/// An accessory that draws a spinner.
struct SpinnerScene: DemoScene {
  let title = "An accessory that draws a spinner, for slow calls alone"
  let declared = #"""
    let spinner = LoadingIndicator(delay: .milliseconds(300), minimum: .milliseconds(500)) {
      isShown in show(isShown)
    }
    client.configure { $0.accessories = [spinner] }
    let quick = try await client.response(Quick())
    _ = try await client.send(Slow())
    """#

  struct Quick: APIRequest {
    var path: Path { "/quick" }
  }

  struct Slow: APIRequest {
    var path: Path { "/slow" }
  }

  private let gate = Gate()

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    request.path == "/slow" ? .ok("at last").held(at: gate) : .ok("at once")
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let states = Notebook<Bool>()
    let drawn = SpinnerDrawing(draw: stage.drawing)
    func show(_ isShown: Bool) {
      drawn.show(isShown)
      stage.showGot(isShown ? "spinner shown" : "spinner hidden")
      if isShown { gate.open() }
      states.note(isShown)
    }

    let spinner = LoadingIndicator(delay: .milliseconds(300), minimum: .milliseconds(500)) {
      isShown in show(isShown)
    }
    client.configure { $0.accessories = [spinner] }
    let began = MonotonicInstant.now
    let quick = try await client.response(Quick())
    let wasShown = states.entries.contains(true)
    let took = began.duration(to: .now)
    stage.showGot("the quick call ended after \(Wording.duration(quick.metrics.total))")
    _ = try await client.send(Slow())
    stage.showGot("the slow call ended")
    await states.reached(2)

    for request in stage.requests() { stage.showSent(request) }
    // On a machine that is very busy the quick call may be slow, and the spinner is right to show.
    stage.claim(
      "the quick call ended before the spinner's delay: nothing blinked",
      !wasShown || took >= .milliseconds(300))
    stage.claim("the slow call showed it once, and it went away by itself", states.entries == [true, false])
  }
}

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
