// On a server: settings from the environment, one client for the application, the trace of a request, and draining.
import Errand
import ErrandTelemetry
import ErrandTesting
import Foundation

// snippet.request
struct GetStock: APIRequest {
  struct Response: Decodable, Sendable { let pieces: Int }
  let article: Int
  var path: Path { "/stock/\(article)" }
}
// snippet.end

let server = try LoopbackServer { _ in .json(#"{"pieces":3}"#) }
setenv("ERRAND_BASE_URL", server.url, 1)

// snippet.environment
let client = APIClient(try ClientConfiguration(reading: .environment()))
let stock = try await client.send(GetStock(article: 7))
// snippet.end
print(stock.pieces)

let file = FileManager.default.temporaryDirectory.appending(path: "stock.env").path
try Data("STOCK_BASE_URL=\(server.url)\n".utf8).write(to: URL(fileURLWithPath: file))

// snippet.sources
var configuration = try ClientConfiguration(
  reading: .file(file, prefix: "STOCK_"), .environment(prefix: "STOCK_"))
configuration.log = { line in print(line) }
// snippet.end
try FileManager.default.removeItem(atPath: file)

// snippet.apply
var fixed = ClientConfiguration(baseURL: "https://stock.example.com")
fixed.retries = .standard
try fixed.apply(.environment(prefix: "STOCK_"))
// snippet.end

// snippet.handler
func handle(article: Int, fields: HTTPFields, client: APIClient) async throws -> Int {
  let context = TraceContext(traceparent: fields["traceparent"], tracestate: fields.values(of: "tracestate"))
  return try await TraceContext.$current.withValue(context) {
    try await client.send(GetStock(article: article)).pieces
  }
}
// snippet.end
print(try await handle(article: 7, fields: HTTPFields(), client: client))

// snippet.users
struct GetOrders: APIRequest {
  struct Response: Decodable, Sendable { let pieces: Int }
  let token: String  // of the user for whom the server works
  var path: Path { "/orders" }
  var credential: RequestCredential { .bearer(token) }
}
// snippet.end
print(try await client.send(GetOrders(token: "token of ada")).pieces)

// snippet.drain
let report = await client.drain(within: .seconds(20))
if !report.isComplete { print("\(report.cancelled) calls were cancelled") }
// snippet.end

do {
  _ = try await client.send(GetStock(article: 8))
} catch {
  // snippet.refused
  if error.code == .draining { print("the server shuts down") }
  // snippet.end
}
