import Errand
import ErrandTesting
import Foundation

struct RegisterScene: DemoScene {
  let title = "Register by POST: every character is preserved, and the response becomes a Swift value"
  let source = SceneSource()

  // shown: begin
  struct Register: APIRequest {
    let name: String
    let password: String
    var path: Path { "/users" }
    var method: HTTPMethod { .post }
    var arguments: Arguments { ["name": name, "password": password, "tags": ["a", "b"]] }
    struct Response: Decodable, Sendable { let id: Int; let name: String }
  }
  // shown: end

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    let fields = Self.fields(of: request.bodyText)
    let user: JSONValue = ["id": 7, "name": .string(fields["name"]?.first ?? "")]
    return .json("\(user)", status: 201)
  }

  /// Decodes a form as a server does.
  static func fields(of form: String) -> [String: [String]] {
    let items = URLComponents(string: "?" + form.replacing("+", with: "%20"))?.queryItems ?? []
    return Dictionary(grouping: items, by: \.name).mapValues { $0.compactMap(\.value) }
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    // shown: begin
    let zoe = Register(name: "Zoë + 李雷 & 🚀", password: "open sesame")
    let user = try await client.send(zoe)
    // shown: end

    let request = stage.requests().first
    stage.showSent(request, fields: ["Content-Type", "Content-Length"])
    stage.showReceived(value: user)
    let seen = Self.fields(of: request?.bodyText ?? "")
    stage.expect(
      "the server decoded exactly this name, password and tags from the form",
      seen == ["name": ["Zoë + 李雷 & 🚀"], "password": ["open sesame"], "tags": ["a", "b"]])
    stage.expect("the name was returned as it was sent", user.name == "Zoë + 李雷 & 🚀" && user.id == 7)
  }
}
