// Responses that are read while they arrive.
import Errand
import ErrandCore
import ErrandHTTP
import ErrandTesting
import Synchronization

struct GetExport: APIRequest {
  var path: Path { "/export" }
}

struct GetLog: APIRequest {
  var path: Path { "/log" }
}

// snippet.forwarding
struct PutExport: APIRequest {
  let body: RequestBody?  // stored, because the stream can be read only once
  var path: Path { "/export" }
  var method: HTTPMethod { .put }
  typealias Response = Nothing
}
// snippet.end

struct Row: Decodable, Sendable { let amount: Int }

struct Prices: APIRequest {
  var path: Path { "/prices" }
  typealias Response = Nothing
}

struct Price: Decodable, Sendable { let cents: Int }

struct Chat: APIRequest {
  let question: String
  var path: Path { "/chat" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["question": question] }
  typealias Response = Nothing
}

struct Token: Decodable, Sendable { let text: String }

let server = try LoopbackServer { request in
  let events: LoopbackHeaders = ["Content-Type": "text/event-stream"]
  return switch request.path {
  case "/export": .ok("{\"amount\": 1}\n{\"amount\": 2}\n")
  case "/log": .ok("first\nsecond\n")
  case "/chat": .status(200, fields: events, body: "data: {\"text\": \"Much.\"}\n\ndata: [DONE]\n\n")
  default:
    request.headers["Last-Event-ID"] == nil
      ? .status(200, fields: events, body: "retry: 10\nid: 1\nevent: price\ndata: {\"cents\": 995}\n\n")
      : .status(204)
  }
}
let client = APIClient(baseURL: server.url)

// snippet.pieces
let export = try await client.stream(GetExport())
var count = 0
for try await piece in export { count += piece.count }
// snippet.end

var total = 0
// snippet.lines
for try await line in try await client.stream(GetLog()).lines {
  print(line)
}
for try await row in try await client.stream(GetExport()).values(of: Row.self) {
  total += row.amount
}
// snippet.end

// snippet.events
for try await event in client.events(of: Prices()) {
  let price = try event.value(as: Price.self)
  print(event.type, price.cents)
}
// snippet.end

// snippet.values
for try await price in client.events(of: Prices()).values(of: Price.self) {
  print(price.cents)
}
// snippet.end

// snippet.resume
var lastID = "1"  // stored by an earlier run of the app
var resuming = CallOptions()
if !lastID.isEmpty { resuming.headers = ["Last-Event-ID": lastID] }
for try await event in client.events(of: Prices(), options: resuming) {
  if !event.id.isEmpty { lastID = event.id }
  do {
    print(try event.value(as: Price.self).cents)
  } catch {
    print("The event \(event.id) is skipped:", error.message)
  }
}
// snippet.end
print(lastID)

// snippet.rule
let patient = ReconnectRule(attempts: 100, delay: .seconds(1), longestDelay: .seconds(300))
let options = CallOptions(timeouts: Timeouts(idle: .seconds(45)))
let prices = client.events(of: Prices(), options: options, reconnecting: patient)
// snippet.end
for try await _ in prices {}

// snippet.chat
var answer = ""
var isComplete = false
for try await event in client.events(of: Chat(question: "What is new?")) {
  if event.data == "[DONE]" {
    isComplete = true
  } else {
    answer += try event.value(as: Token.self).text
  }
}
// snippet.end

let archive = client
// snippet.forward
let source = try await client.stream(GetExport())
let isDecoded = source.fields[.contentEncoding] != nil
let length = isDecoded ? nil : source.fields[.contentLength].flatMap { Int64($0) }
let copy = PutExport(body: .pieces(source, length: length, type: source.fields[.contentType]))
_ = try await archive.send(copy)
// snippet.end

// snippet.sink
final class LineCount: BodySink {
  private let feeds = Mutex(0)
  var lines: Int { feeds.withLock { $0 } }

  func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }

  func write(_ piece: UnsafeRawBufferPointer) -> Bool {
    let found = piece.count { $0 == UInt8(ascii: "\n") }
    feeds.withLock { $0 += found }
    return true  // false: pause until flow.resume()
  }

  func end() {}
}

let sink = LineCount()
_ = try await client.send(GetLog(), options: CallOptions(bodySink: sink))
print(sink.lines)
// snippet.end
print(count, total, answer, isComplete)
