import Errand
import ErrandTesting

/// Calls that tell a delegate.
struct DelegateScene: DemoScene {
  let title = "A delegate: one object is told how its calls end"
  let declared = #"""
    final class Screen: CallDelegate {
      func requestFinished(_ call: FinishedCall) {
        guard let weather = call.value(of: Weather.self) else { return }
        tell("\(call.info.name): \(weather.degrees) degrees")
      }
      func requestFailed(_ call: FailedCall) {
        tell("\(call.info.name): \(call.error.message)")
      }
    }
    client.start(Weather(city: "Łódź"), delegate: screen)
    client.start(Weather(city: "Atlantis"), delegate: screen)
    """#

  struct Weather: APIRequest {
    let city: String
    var path: Path { "/weather/\(city)" }
    struct Response: Decodable, Sendable { let degrees: Int }
  }

  @MainActor
  final class Screen: CallDelegate {
    let tell: (String) -> Void
    init(_ tell: @escaping (String) -> Void) { self.tell = tell }

    func requestFinished(_ call: FinishedCall) {
      guard let weather = call.value(of: Weather.self) else { return }
      tell("\(call.info.name): \(weather.degrees) degrees")
    }
    func requestFailed(_ call: FailedCall) {
      tell("\(call.info.name): \(call.error.message)")
    }
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    request.path == "/weather/Atlantis" ? .status(404, body: "sunk") : .json(#"{"degrees": 21}"#)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let endings = Notebook<String>()
    let screen = Screen { endings.note($0) }
    client.start(Weather(city: "Łódź"), delegate: screen)
    client.start(Weather(city: "Atlantis"), delegate: screen)
    await endings.reached(2)
    let told = endings.entries.sorted()

    for request in stage.requests().sorted(by: { $0.target > $1.target }) { stage.showSent(request) }
    for line in told { stage.showGot(line) }
    stage.claim("the delegate was told the value, typed", told.first == "Weather: 21 degrees")
    stage.claim("and the failure of the other call", told.last?.contains("The server answered 404 Not Found") == true)
    withExtendedLifetime(screen) {}
  }
}
