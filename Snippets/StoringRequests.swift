// A request that is Codable can be stored and sent later, also by another run of the program.
import Errand
import ErrandTesting
import Foundation

struct Rename: APIRequest, Codable {
  let id: Int
  let name: String
  var path: Path { "/users/\(id)" }
  var method: HTTPMethod { .patch }
  var arguments: Arguments { ["name": name] }
  typealias Response = Nothing
}

let changes = [Rename(id: 7, name: "Ada"), Rename(id: 8, name: "Bo")]
let stored = try JSONEncoder().encode(changes)

// Later:
let server = try LoopbackServer { _ in .status(204) }
let client = APIClient(baseURL: server.url)
for request in try JSONDecoder().decode([Rename].self, from: stored) {
  _ = try await client.send(request)
}
print(server.requests.map { "\($0.method) \($0.path) \($0.bodyText)" })
