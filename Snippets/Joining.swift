// Equal calls that share one exchange, and rules for repeated calls.
import Errand
import ErrandTesting

// snippet.declare
struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  struct Response: Decodable, Sendable { let nick: String }
}

struct Stock: APIRequest {
  var path: Path { "/stock" }
  var overlap: Overlap { Overlap(joining: .never) }  // each call asks the server itself
  typealias Response = String
}

struct Translate: APIRequest {
  let text: String
  var path: Path { "/translate" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["text": text] }
  var overlap: Overlap { Overlap(joining: .always) }  // this POST only reads
  typealias Response = String
}
// snippet.end

let gate = Gate()
let server = try LoopbackServer { request in
  request.path == "/users/7" ? .json(#"{"nick":"Ada"}"#).held(at: gate) : .ok("something")
}
let client = APIClient(baseURL: server.url)

// snippet.share
async let title = client.response(GetUser(id: 7))
async let sidebar = client.response(GetUser(id: 7))
// snippet.end
try await gate.reached()
for _ in 0..<1_000 { await Task.yield() }
gate.open()

// snippet.joined
let users = try await [title, sidebar]
print(users.map(\.value.nick))  // ["Ada", "Ada"]
print(users.filter(\.metrics.isJoined).count, "of them joined")
// snippet.end
print(try await client.send(Stock()), try await client.send(Translate(text: "hello")))

// snippet.off
client.configure { $0.overlap.joining = .never }
// snippet.end
client.configure { $0.overlap.joining = .safe }

// snippet.repeats
struct Search: APIRequest {
  let text: String
  var path: Path { "/search" }
  var arguments: Arguments { ["q": text] }
  var overlap: Overlap { Overlap(repeats: .debounce(.milliseconds(300))) }
  typealias Response = String
}

struct SaveDraft: APIRequest {
  let text: String
  var path: Path { "/draft" }
  var method: HTTPMethod { .put }
  var body: RequestBody? { .text(text) }
  var overlap: Overlap { Overlap(repeats: .cancelPrevious) }
}

struct Pay: APIRequest {
  let order: Int
  var path: Path { "/orders/\(order)/payment" }
  var method: HTTPMethod { .post }
  var overlap: Overlap { Overlap(repeats: .ignoreNew) }
}
// snippet.end

// snippet.typing
for text in ["a", "ad", "ada"] {
  client.start(outcomeOf: Search(text: text)) { outcome in
    print(text, outcome.value ?? outcome.error?.message ?? "")  // one value and two cancelled calls
  }
}
// snippet.end
while !client.running.isEmpty { await Task.yield() }

// snippet.pay
do {
  _ = try await client.send(Pay(order: 7))
} catch {
  print(error.code == .repeated ? "it is being paid already" : error.message)
}
// snippet.end
_ = try await client.send(SaveDraft(text: "Dear Ada"))
