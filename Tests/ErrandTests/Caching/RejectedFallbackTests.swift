import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A stored response that replaces a failure, and that the call then rejects.
struct RejectedFallbackTests {
  private struct Page<Value: Decodable & Sendable>: APIRequest {
    typealias Response = Value
    var path: Path { "/page" }
    var idempotency = Idempotency.never
    var cache: CachePolicy { .lifetime(.seconds(60)) }
  }

  @Test(arguments: [(Idempotency.never, 2), (.byMethod, 3)])
  func `a request that must not be repeated is sent once`(idempotency: Idempotency, requests: Int) async throws {
    let answers: [ScriptedAnswer] = [.text("no number"), .failure(.reset), .text("7")]
    let seen = Recorded<String>()
    let transport = ScriptedTransport { request in
      seen.append(request.url.path)
      return answers[min(seen.count, answers.count) - 1]
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    let client = APIClient(configuration)
    _ = try await client.send(Page<String>())
    let outcome = await client.outcome(
      of: Page<Int>(idempotency: idempotency), options: .cache(.networkElseCached))
    #expect((outcome.error == nil) == (requests == 3))
    #expect(transport.requests.count == requests)
  }
}
