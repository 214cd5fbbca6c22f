import Errand
import ErrandTesting
import Foundation

struct BatchScene: DemoScene {
  let title = "A batch of four images and a user: a failure ends the batch, or only its own call"
  let source = SceneSource()

  // shown: begin
  struct Image: APIRequest {
    let name: String
    var path: Path { "/images/\(name).png" }
  }
  // shown: end

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
    // shown: begin
    let images = ["sun", "lost", "moon", "star"].map { Image(name: $0) }
    let page = Batch(images[0], images[1], images[2], images[3], GetUser(id: 7))
    // shown: end
    // The server sends the response for the missing image only after the request for the user, which is the last
    // request of the batch, has arrived.
    Task { [gate, lost] in
      try await gate.reached()
      lost.open()
    }
    // shown: begin
    let whole = await client.outcome(of: page)
    let each = await client.outcomes(of: images)
    // shown: end
    gate.open()

    for request in stage.requests() { stage.showSent(request) }
    stage.showReceived(whole.error)
    for member in whole.error?.members ?? [] { stage.showReceived("failed: \(member)") }
    for line in "\(whole.report)".split(separator: "\n") { stage.showReceived(String(line)) }
    let words = each.map { outcome in
      switch outcome {
      case .success(let image): "\(image.count) bytes"
      case .failure(let error): "\(error.code) \(error.status ?? 0)"
      }
    }
    stage.showReceived("separate outcomes: " + words.joined(separator: ", "))

    let states = whole.report.entries.map { "\($0.name) \($0.state)" }
    stage.expect("the error names the second member", whole.error?.members.map(\.index) == [1])
    stage.expect("the request for the user, which still waited, was cancelled", states.contains("GetUser cancelled"))
    stage.expect(
      "with an outcome for each image, the other three images arrived",
      each.map { $0.error == nil } == [true, false, true, true])
    stage.expect("no call is running any more", client.running.isEmpty)
  }
}

extension Result where Failure == APIError {
  fileprivate var error: APIError? { if case .failure(let error) = self { error } else { nil } }
}
