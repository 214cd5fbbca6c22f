import Errand
import ErrandJSON
import ErrandTesting

struct BrokenShapeScene: DemoScene {
  let title = "A JSON shape, and a server that violates it"
  let source = SceneSource()

  // shown: begin
  struct ListUsers: APIRequest {
    var path: Path { "/users" }
    var validation: ResponseValidation {
      ResponseValidation(shape: ["items": [["nick": .string, "level": .number]]])
    }
    typealias Response = JSONValue
  }
  // shown: end

  static let body = #"{"items": [{"nick": "Ada", "level": 36}, {"nick": "Bob", "level": "high"}]}"#

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .json(Self.body) }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    // shown: begin
    let error = await client.outcome(of: ListUsers()).error
    let mismatch = error?.cause as? JSONShapeMismatch
    // shown: end

    stage.showSent(stage.requests().first)
    stage.showReceived("200 \(Self.body)")
    stage.showReceived(error)
    stage.expect(
      "the call failed because of the JSON shape, although the status was 200",
      error?.code == .shape && error?.status == 200
    )
    stage.expect("the error names the path: $.items[1].level", mismatch?.path == "items[1].level")
    stage.expect("the error states what was expected: a number", mismatch?.expected == "a number")
    stage.expect(#"the error states what was found: the string "high""#, mismatch?.found == #"the string "high""#)
  }
}
