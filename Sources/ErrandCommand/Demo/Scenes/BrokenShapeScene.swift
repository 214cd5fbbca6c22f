import Errand
import ErrandTesting

/// A server that violates the declared shape.
struct BrokenShapeScene: DemoScene {
  let title = "The same shape, and a server that violates it"
  let source = SceneSource()

  // shown: begin
  struct ListUsers: APIRequest {
    var path: Path { "/users" }
    var shape: JSONShape? { ["items": [["nick": .string, "level": .number]]] }
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
    stage.showGot("200 \(Self.body)")
    stage.showGot(error)
    stage.claim(
      "the call failed because of the shape, although the status was 200", error?.code == .shape && error?.status == 200
    )
    stage.claim("the error names the path: $.items[1].level", mismatch?.path == "items[1].level")
    stage.claim("what was expected: a number", mismatch?.expected == "a number")
    stage.claim(#"and what was found: the string "high""#, mismatch?.found == #"the string "high""#)
  }
}
