// The first request: a type that describes the call, and a client that carries it out.
import Errand
import ErrandTesting

struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  var arguments: Arguments { ["verbose": true] }

  struct Response: Decodable, Sendable {
    let nick: String
    let level: Int
  }
}

// A server on this machine replaces yours.
let server = try LoopbackServer { request in
  request.path == "/v1/users/7" ? .json(#"{"nick":"Ada","level":9}"#) : .status(404)
}

let client = APIClient(baseURL: server.url + "/v1")
let user = try await client.send(GetUser(id: 7))
print("\(user.nick) has level \(user.level)")

do {
  _ = try await client.send(GetUser(id: 8))
} catch {
  print(error.message)  // The server answered 404 Not Found; expected 200–299.
}
