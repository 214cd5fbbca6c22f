import Errand
import ErrandTesting

/// An answer that has the declared shape.
struct ShapeScene: DemoScene {
  let title = "User info, judged by its shape before anybody uses it"
  let declared = #"""
    struct GetProfile: APIRequest {
      let id: Int
      var path: Path { "/users/\(id)/profile" }
      var shape: JSONShape? {
        [
          "nick": .string, "level": .integer, "kind": .oneOf("guest", "member"),
          "tags": [.string], "address": .optional(["city": .nullable(.string)]),
        ]
      }
      struct Response: Decodable, Sendable { let nick: String; let level: Int }
    }
    let profile = try await client.send(GetProfile(id: 7))
    """#

  struct GetProfile: APIRequest {
    let id: Int
    var path: Path { "/users/\(id)/profile" }
    var shape: JSONShape? {
      [
        "nick": .string, "level": .integer, "kind": .oneOf("guest", "member"),
        "tags": [.string], "address": .optional(["city": .nullable(.string)]),
      ]
    }
    struct Response: Decodable, Sendable { let nick: String; let level: Int }
  }

  static let body = #"{"nick":"Ada","level":36,"kind":"member","tags":[],"address":{"city":null},"x":1}"#

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .json(Self.body) }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let profile = try await client.send(GetProfile(id: 7))

    stage.showSent(stage.requests().first, fields: ["Accept"])
    stage.showGot("200 \(Self.body)")
    stage.showGot(value: profile)
    stage.claim("the shape was met: keys it does not name are no fault", profile.level == 36)
    stage.claim("null passed only where the shape lets it", profile.nick == "Ada")
  }
}
