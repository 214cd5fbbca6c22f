import Errand
import ErrandTesting
import Foundation

/// Four images and a user at once; one of the images is missing.
struct BatchScene: DemoScene {
  let title = "A batch of four images and a user: one failure ends it, or disturbs nobody"
  let declared = #"""
    struct Image: APIRequest {
      let name: String
      var path: Path { "/images/\(name).png" }
    }
    let images = ["sun", "lost", "moon", "star"].map { Image(name: $0) }
    let page = Batch(images[0], images[1], images[2], images[3], GetUser(id: 7))
    let whole = await client.outcome(of: page)
    let each = await client.outcomes(of: images)
    """#

  struct Image: APIRequest {
    let name: String
    var path: Path { "/images/\(name).png" }
  }

  struct GetUser: APIRequest {
    let id: Int
    var path: Path { "/users/\(id)" }
    struct Response: Decodable, Sendable { let nick: String }
  }

  private let gate = Gate()
  private let lost = Gate()

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    if request.path.hasSuffix("lost.png") { return .status(404, body: "no such image\n").held(at: lost) }
    if request.path.hasPrefix("/users") { return .json(#"{"nick": "ada"}"#).held(at: gate) }
    return .ok(String(request.path.suffix(8)))
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let images = ["sun", "lost", "moon", "star"].map { Image(name: $0) }
    let page = Batch(images[0], images[1], images[2], images[3], GetUser(id: 7))
    // The image is reported missing when all of the batch is under way.
    Task { [gate, lost] in
      try await gate.reached()
      lost.open()
    }
    let whole = await client.outcome(of: page)
    let each = await client.outcomes(of: images)
    gate.open()

    for request in stage.requests() { stage.showSent(request) }
    stage.showGot(whole.error)
    for member in whole.error?.members ?? [] { stage.showGot("it was \(member)") }
    for line in "\(whole.report)".split(separator: "\n") { stage.showGot(String(line)) }
    let words = each.map { outcome in
      switch outcome {
      case .success(let image): "\(image.count) bytes"
      case .failure(let error): "\(error.code) \(error.status ?? 0)"
      }
    }
    stage.showGot("each on its own: " + words.joined(separator: ", "))

    let states = whole.report.entries.map { "\($0.name) \($0.state)" }
    stage.claim("the error names the second member", whole.error?.members.map(\.index) == [1])
    stage.claim("the user, whom the server still held back, was cancelled", states.contains("GetUser cancelled"))
    stage.claim(
      "asked for outcomes, three images came all the same", each.map { $0.error == nil } == [true, false, true, true])
    stage.claim("nothing runs any more", client.running.isEmpty)
  }
}

extension Result where Failure == APIError {
  fileprivate var error: APIError? { if case .failure(let error) = self { error } else { nil } }
}
