import Errand
import ErrandTesting
import Foundation
import Testing

struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  var arguments: Arguments { ["verbose": true] }
  var shape: JSONShape? { ["nick": .string, "level": .number] }
  struct Response: Decodable, Sendable, Equatable { let nick: String; let level: Int }
}

@Test func `typed value comes back`() async throws {
  let transport = ScriptedTransport(.json(#"{"nick":"Ada","level":9}"#))
  var configuration = ClientConfiguration(baseURL: "http://h.example/v1")
  configuration.transport = .own(transport)
  let client = APIClient(configuration)
  let user = try await client.send(GetUser(id: 7))
  #expect(user == .init(nick: "Ada", level: 9))
  #expect(transport.requests.map(\.url.string) == ["http://h.example/v1/users/7?verbose=true"])
}
@MainActor @Test func `closure comes back`() async throws {
  let transport = ScriptedTransport(.json(#"{"nick":"Ada","level":"x"}"#))
  var configuration = ClientConfiguration(baseURL: "http://h.example/v1")
  configuration.transport = .own(transport)
  let client = APIClient(configuration)
  let error: APIError = await withCheckedContinuation { c in
    client.start(GetUser(id: 7)) { user in } onFailure: { c.resume(returning: $0) }
  }
  print(error); dump(error)
}
