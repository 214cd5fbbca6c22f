// Functions for sending and for cancelling one request.
import Dispatch
import Errand
import ErrandTesting
import Foundation

struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  struct Response: Decodable, Sendable { let nick: String }
}

let server = try LoopbackServer { request in
  switch (request.method, request.path) {
  case (_, "/users/9"): .stall()
  case ("GET", "/users/7"): .json(#"{"nick":"Ada"}"#).informational(103, headers: ["Link": "</avatars/7>; rel=preload"])
  case ("POST", "/users"): .status(201, fields: ["Location": "/users/10"])
  default: .json(#"{"nick":"Ada"}"#)
  }
}
let client = APIClient(baseURL: server.url)

// snippet.async
let user = try await client.send(GetUser(id: 7))
print(user.nick)

let full = try await client.response(GetUser(id: 7))
print(full.status, full.fields[.contentType] ?? "", full.metrics.total, full.value.nick)
print(full.request.curlCommand())  // the sent request as a curl command

let outcome = await client.outcome(of: GetUser(id: 7))
print(outcome.value?.nick ?? outcome.error?.message ?? "")

// snippet.oneoff
struct User: Codable, Sendable {
  let nick: String
}

let ada = try await client.get("/users/7", as: User.self)
try await client.put("/users/7", arguments: ["notify": true], body: .json(ada))
try await client.delete("/users/8", headers: ["X-Reason": "spam"], options: .deadline(.seconds(5)))
print(try await client.head("/users/7").fields["Last-Modified"] ?? "unknown")

let (first, second) = try await client.batch(
  OneOff(.get, "/users/7", as: User.self), OneOff(.get, "/users/8", as: User.self))
// snippet.end
print(first.nick, second.nick)

// snippet.location
let created = try await client.response(OneOff(.post, "/users", body: .json(ada)))
if let location = created.raw.location {
  print(try await client.get(RequestPath(location.string), as: User.self).nick)
}
// snippet.end

// snippet.closures
client.start(GetUser(id: 7))  // the caller does not need the outcome

client.start(GetUser(id: 7)) { user in
  print("on the main actor:", user.nick)
} onFailure: { error in
  print(error.message)
} onProgress: { progress in
  print(progress.direction, progress.bytes)
}

client.start(GetUser(id: 7), on: .queue(DispatchQueue(label: "work"))) { user in
  print("on a queue:", user.nick)
}

client.start(outcomeOf: GetUser(id: 7)) { outcome in
  print("one closure for both:", outcome.value?.nick ?? "failed")
} onProgress: { progress in
  print(progress.bytes)
}

// snippet.delegate
@MainActor final class UserPage: CallDelegate {
  let calls = CallOwner()
  var nick = ""

  func load(with client: APIClient) {
    client.start(GetUser(id: 7), options: .owner(calls), delegate: self)
  }

  func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>) {
    if let user = call.value(of: GetUser.self, in: response) { nick = user.nick }
  }

  func requestFailed(_ call: CallInfo, _ error: APIError) {
    if !error.isCancelled { print(error.message) }
  }
}
// snippet.end

let page = UserPage()
page.load(with: client)
while !client.running.isEmpty { await Task.yield() }
print("the page shows:", page.nick)

// snippet.cancel
let call = client.start(GetUser(id: 9), options: .tag("feed")) { _ in }
print(client.running.map(\.info.name), call.isExecuting)

call.cancel()  // this call
client.cancel(tag: "feed")  // all calls with the tag
client.cancel(owner: page.calls)  // all calls of the page
client.cancelAll()  // all calls of the client
print(call.isCancelled)

// snippet.options
var options = CallOptions(priority: .high, tag: "profile")
options.timeouts = Timeouts(total: .seconds(5))
options.headers = ["X-Screen": "profile"]
options.retries = .none
options.afterCompletion = { outcome in print("took", outcome.metrics.total) }
print(try await client.send(GetUser(id: 7), options: options).nick)
// snippet.end

// snippet.indicator
struct SaveDraft: APIRequest {
  var path: Path { "/drafts" }
  var method: HTTPMethod { .post }
  var delivery: Delivery<Response> { Delivery(indicator: .named("saving")) }
}

let saving = LoadingIndicator(name: "saving", delay: .zero) { isShown in
  print(isShown ? "saving …" : "saved")
}
client.configure { $0.accessories.append(saving) }
_ = try await client.send(SaveDraft())
// snippet.end

let pipe = Pipe()
let handle = pipe.fileHandleForWriting
// snippet.handle
let answer = try await client.send(GetUser(id: 7), into: handle)
print(answer.status, answer.fields[.contentType] ?? "")
// snippet.end
try handle.close()
print(try pipe.fileHandleForReading.readToEnd()?.count ?? 0, "bytes in the pipe")

// snippet.accessory
struct Trace: Accessory {
  func willStart(_ call: CallInfo) { print("\(call.name) starts") }
  func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
    print("\(call.name) took \(outcome.metrics.total)")
  }
}

let spinner = LoadingIndicator { isShown in print(isShown ? "loading …" : "") }
client.configure { $0.accessories = [Trace(), spinner] }
print(try await client.send(GetUser(id: 7)).nick)

// snippet.informational
struct Preload: Accessory {
  func received(_ call: CallInfo, informational head: ResponseHead) {
    if head.status == 103 { print("preload", head.links.map(\.target)) }
  }
}

print(try await client.send(GetUser(id: 7), options: CallOptions(accessories: [Preload()])).nick)
// snippet.end
