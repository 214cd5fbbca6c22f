// The sample of the first pages: a type for the call, a client, and the typed response.
import Errand

struct GetUser: APIRequest {
  struct Response: Decodable, Sendable { let nick: String }
  let id: Int
  var path: Path { "/users/\(id)" }
}

let client = APIClient(baseURL: "https://api.example.com")
let user = try await client.send(GetUser(id: 7))
print(user.nick)
