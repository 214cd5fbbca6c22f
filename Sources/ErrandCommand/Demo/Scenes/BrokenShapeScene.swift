import Errand
import ErrandTesting

/// A server that breaks the declared shape.
struct BrokenShapeScene: DemoScene {
  let title = "The same shape, and a server that breaks it"
  let declared = #"""
    struct ListUsers: APIRequest {
      var path: Path { "/users" }
      var shape: JSONShape? { ["items": [["nick": .string, "level": .number]]] }
      typealias Response = JSONValue
    }
    let error = await client.outcome(of: ListUsers()).error
    let mismatch = error?.cause as? JSONShapeMismatch
    """#

  struct ListUsers: APIRequest {
    var path: Path { "/users" }
    var shape: JSONShape? { ["items": [["nick": .string, "level": .number]]] }
    typealias Response = JSONValue
  }

  static let body = #"{"items": [{"nick": "Ada", "level": 36}, {"nick": "Bob", "level": "high"}]}"#

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .json(Self.body) }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let error = await client.outcome(of: ListUsers()).error
    let mismatch = error?.cause as? JSONShapeMismatch

    stage.showSent(stage.requests().first)
    stage.showGot("200 \(Self.body)")
    stage.showGot(error)
    stage.claim(
      "the call failed at the shape, though the status was 200", error?.code == .shape && error?.status == 200)
    stage.claim("the error names the place: $.items[1].level", mismatch?.path == "items[1].level")
    stage.claim("what was expected: a number", mismatch?.expected == "a number")
    stage.claim(#"and what was found: the string "high""#, mismatch?.found == #"the string "high""#)
  }
}
