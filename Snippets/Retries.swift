// Retries: which requests are repeated, when, and how often.
import Errand
import ErrandTesting
import Synchronization

struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  struct Response: Decodable, Sendable { let nick: String }
}

// snippet.request
struct GetReport: APIRequest {
  var path: Path { "/report" }
  var retries: RetryPolicy { RetryPolicy(attempts: 5, statuses: [502, 503]) }
}
// snippet.end

// snippet.keyed
struct Pay: APIRequest {
  var path: Path { "/payments" }
  var method: HTTPMethod { .post }
  var idempotency: Idempotency { .keyed() }  // Idempotency-Key: one key for all attempts
}
// snippet.end

let count = Mutex(0)
let server = try LoopbackServer { _ in
  let isFirst = count.withLock { count in
    count += 1
    return count % 2 == 1
  }
  return isFirst ? .status(503, fields: ["Retry-After": "0"]) : .json(#"{"nick":"Ada"}"#)
}
var configuration = ClientConfiguration(baseURL: server.url)
// snippet.client
configuration.retries = .standard
// snippet.end
let client = APIClient(configuration)

// snippet.metrics
let outcome = await client.outcome(of: GetUser(id: 7))
for retry in outcome.metrics.retries { print(retry.reason, retry.delay) }  // status 503 0.31 seconds
// snippet.end
print(outcome.value?.nick ?? "")
print(try await client.send(GetReport()).count, try await client.response(Pay()).metrics.attempts)

// snippet.condition
/// Sends a request again while the server answers that the resource is locked.
struct RetryWhileLocked: Interceptor {
  func intercept(
    _ request: HTTPRequest, context: CallContext, next: Next
  ) async throws -> HTTPResponse {
    var response = try await next(request)
    for seconds in [1, 2, 4] where response.status == 423 && request.body?.isReplayable ?? true {
      try await Task.sleep(for: .seconds(seconds))
      response = try await next(request)
    }
    return response
  }
}

configuration.interceptors.calls.append(RetryWhileLocked())
// snippet.end

let (second, third) = (try LoopbackServer { _ in .ok("second") }, try LoopbackServer { _ in .ok("third") })
// snippet.servers
configuration.servers.current.fallbackURLs = [second.url, third.url]
// snippet.end
// snippet.hedging
configuration.retries.hedging = .after(.milliseconds(300))  // or .slowerThan(0.95)
// snippet.end
let two = APIClient(configuration)
print(try await two.send(GetReport()).count)
