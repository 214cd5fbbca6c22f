// Many requests as one: batches, chains, and when async let is enough.
import Errand
import ErrandTesting
import Foundation

struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  struct Response: Decodable, Sendable {
    let nick: String
    let avatar: String
  }
}

struct Picture: APIRequest {
  let name: String
  var path: Path { "/pictures/\(name)" }
}

struct LatestNews: APIRequest {
  var path: Path { "/news" }
  typealias Response = [String]
}

struct Register: APIRequest {
  let name: String
  var path: Path { "/register" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["name": name] }
  struct Response: Decodable, Sendable { let id: Int }
}

struct Welcome: APIRequest {
  let nick: String
  let bytes: Int
  var path: Path { "/welcome" }
  var arguments: Arguments { ["nick": nick, "bytes": bytes] }
  typealias Response = String
}

let server = try LoopbackServer { request in
  switch request.path {
  case "/news": .json(#"["rain", "sun"]"#)
  case "/register": .json(#"{"id": 7}"#)
  case "/pictures/lost": .status(404)
  case _ where request.path.hasPrefix("/users"): .json(#"{"nick": "Ada", "avatar": "fern"}"#)
  default: .ok("hello")
  }
}
let client = APIClient(baseURL: server.url)
let names = ["fern", "moss", "lost", "reed"]
let mirrors = [Picture(name: "fern"), Picture(name: "moss")]

// snippet.batch
let (user, picture, news) = try await client.batch(GetUser(id: 7), Picture(name: "fern"), LatestNews())
print(user.nick, picture.count, news)

let users = try await client.batch((1...20).map { GetUser(id: $0) }, width: 4)
print(users.map(\.nick))

let choice: [any APIRequest] = [GetUser(id: 7), LatestNews()]  // known only at run time
let values = try await client.batch(mixed: choice)
print(values[1] as? [String] ?? [])

// snippet.outcomes
let results = await client.outcomes(of: names.map { Picture(name: $0) }, width: 2)
for (name, result) in zip(names, results) {
  switch result {
  case .success(let bytes): print(name, bytes.count)
  case .failure(let error): print(name, error.message)
  }
}

let fastest = try await client.first(of: mirrors)
let quorum = try await client.atLeast(2, of: names.map { Picture(name: $0) })
print(fastest.count, quorum.count)

let unlike = await client.outcomes(mixed: choice)
print(unlike.compactMap { try? $0.get() }.count, "of", unlike.count)

let soonest = try await client.first(mixed: choice)
print((soonest as? [String])?.count ?? 0, "headlines came first")

let (found, sketch) = await client.outcomes(GetUser(id: 7), Picture(name: "lost"))
print((try? found.get().nick) ?? "nobody", (try? sketch.get().count) ?? 0)

// snippet.chain
let greeting = try await client.chain { chain in
  let account = try await chain.send(Register(name: "ada"))
  async let user = chain.send(GetUser(id: account.id))
  async let picture = chain.send(Picture(name: "fern"))
  return try await chain.send(Welcome(nick: user.nick, bytes: picture.count))
}
print(greeting)

// snippet.early
struct AccountClosed: Error {}

do {
  try await client.chain { chain in
    let account = try await chain.send(Register(name: "ada"))
    if account.id == 0 { throw AccountClosed() }  // the chain fails with your error
    if account.id == 7 { chain.cancel() }  // the chain ends as cancelled
    _ = try await chain.batch(GetUser(id: account.id), LatestNews())
  }
} catch let error as APIError where error.isCancelled {
  print("cancelled")
}

// snippet.plain
async let one = client.send(GetUser(id: 1))
async let two = client.send(LatestNews())
print(try await one.nick, try await two.count)

// snippet.values
let page = Batch(GetUser(id: 7), LatestNews())
let signUp = Chain("sign up") { chain in
  let account = try await chain.send(Register(name: "ada"))
  let (user, news) = try await chain.send(Batch(GetUser(id: account.id), LatestNews()))
  return try await chain.send(Welcome(nick: user.nick, bytes: news.count))
}

// snippet.closures
let running = client.start(page) { user, news in
  print("on the main actor:", user.nick, news)
} onFailure: { error in
  print(error.message)
} onProgress: { progress in
  print(progress.finished, "of", progress.total ?? 0)
}

client.start(outcomeOf: signUp, on: .queue(.global())) { outcome in
  print("elsewhere:", outcome.value ?? "failed")
}

// snippet.delegate
@MainActor final class HomePage: GroupDelegate {
  let calls = CallOwner()
  var title = ""

  func load(with client: APIClient) {
    client.start(page, options: GroupOptions(owner: calls, tag: "home"), delegate: self)
  }

  func groupFinished(_ group: GroupInfo, _ value: any Sendable, _ report: GroupReport) {
    if let (user, _) = value as? (GetUser.Response, [String]) { title = user.nick }
  }

  func groupFailed(_ group: GroupInfo, _ error: APIError, _ report: GroupReport) {
    if !error.isCancelled { title = error.message }
  }
}
// snippet.end

let home = HomePage()
home.load(with: client)

// snippet.steps
var steps = StepChain("sign up")
steps.add(Register(name: "ada")) { account, chain in
  if account.id == 0 { return chain.fail(AccountClosed()) }
  chain.add(GetUser(id: account.id)) { user, chain in
    chain.add(Picture(name: user.avatar))
  }
}
client.start(outcomeOf: steps) { outcome in
  print(outcome.value?.first(GetUser.Response.self)?.nick ?? "failed")
}

// snippet.own
struct LoadProfile: CallGroup {
  let id: Int

  func body(in group: GroupScope) async throws -> (nick: String, picture: Data) {
    let user = try await group.send(GetUser(id: id))
    return (user.nick, try await group.send(Picture(name: user.avatar)))
  }
}

let profile = try await client.send(LoadProfile(id: 7))
let profiles = try await client.batch((1...3).map { LoadProfile(id: $0) })
print(profile.nick, profiles.count)

func headline(by sender: some CallSender) async throws -> String {
  try await sender.send(LatestNews()).first ?? "no news"
}
print(try await headline(by: client))
// snippet.end

// snippet.error
do {
  _ = try await client.batch(GetUser(id: 7), Picture(name: "lost"))
} catch {
  print(error)  // … 404 … (member 2 of the batch, Picture)
  print(error.members.first?.index ?? 0, error.members.first?.name ?? "")  // 1 Picture
}

// snippet.options
var options = GroupOptions(deadline: .seconds(30), tag: "home")
options.members = CallOptions(priority: .high, headers: ["X-Screen": "home"])
options.indicator = .named("home")
options.onProgress = { progress in print(progress.finished, progress.bytes) }
_ = try await client.batch(GetUser(id: 7), LatestNews(), options: options)

// snippet.cancel
running.change(priority: .high)
print(client.runningGroups.map(\.info.name))
running.cancel()
client.cancel(tag: "home")
client.cancel(owner: home.calls)

// snippet.plan
let outcome = await client.outcome(of: signUp)
print(outcome.report)
// snippet.end

while !client.running.isEmpty { await Task.yield() }
await Task.yield()
print("the page shows:", home.title)
