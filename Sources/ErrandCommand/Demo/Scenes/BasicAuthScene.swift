import Errand
import ErrandTesting

/// A password that is right, and one that is not.
struct BasicAuthScene: DemoScene {
  let title = "Basic credentials: let in, and refused with a typed error body"
  let declared = #"""
    struct Inbox: APIRequest {
      let password: String
      var path: Path { "/inbox" }
      var credential: RequestCredential { .basic(user: "ada", password: password) }
      struct Response: Decodable, Sendable { let unread: Int }
      struct ErrorBody: Decodable, Sendable { let reason: String; let attemptsLeft: Int }
    }
    let inbox = try await client.send(Inbox(password: "analytical"))
    do {
      _ = try await client.send(Inbox(password: "engine"))
    } catch {
      refusal = error.body(as: Inbox.ErrorBody.self)
    }
    """#

  struct Inbox: APIRequest {
    let password: String
    var path: Path { "/inbox" }
    var credential: RequestCredential { .basic(user: "ada", password: password) }
    struct Response: Decodable, Sendable { let unread: Int }
    struct ErrorBody: Decodable, Sendable { let reason: String; let attemptsLeft: Int }
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    // "ada:analytical" in Base64.
    request.headers["Authorization"] == "Basic YWRhOmFuYWx5dGljYWw="
      ? .json(#"{"unread": 3}"#)
      : .json(#"{"reason": "wrong password", "attemptsLeft": 2}"#, status: 401)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let inbox = try await client.send(Inbox(password: "analytical"))
    stage.showGot(value: inbox)
    var refusal: Inbox.ErrorBody?
    var failure: APIError?
    do {
      _ = try await client.send(Inbox(password: "engine"))
    } catch {
      refusal = error.body(as: Inbox.ErrorBody.self)
      stage.showGot(error)
      failure = error
    }
    if let refusal { stage.showGot(value: refusal) }

    for request in stage.requests() { stage.showSent(request, fields: ["Authorization"]) }
    stage.claim("the right password opens the inbox", inbox.unread == 3)
    stage.claim("the wrong one is refused with 401", failure?.code == .status && failure?.status == 401)
    stage.claim("the server's refusal is a value of its own type", refusal?.attemptsLeft == 2)
    stage.claim(
      "the error, printed, shows no credential",
      failure.map { !"\($0)".contains("engine") && !"\($0)".contains("YWRh") } == true)
  }
}
