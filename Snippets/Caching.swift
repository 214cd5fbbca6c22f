// Cache policies, read modes, listings and removal.
import Dispatch
import Errand
import ErrandCache
import ErrandTesting
import Foundation

// snippet.policy
struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  var cache: CachePolicy { .lifetime(.seconds(180), version: 2) }
  struct Response: Decodable, Sendable { let nick: String }
}
// snippet.end

// snippet.edge
func edgeHit(_ response: HTTPResponse) -> Bool {
  response.serverCaches.contains { $0.isHit && $0.secondsLeft ?? 0 > 0 }
}
// snippet.end

let server = try LoopbackServer { request in
  request.path.hasPrefix("/users/") ? .json(#"{"nick":"Ada"}"#) : .ok("something")
}
let folder = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
let baseURL = server.url

// snippet.set
let cache = ResponseCache(folder: folder, limit: 200 << 20)

var configuration = ClientConfiguration(baseURL: baseURL)
configuration.cache.store = .own(cache)
configuration.cache.appVersion = "1.4.0"
configuration.cache.policy = .http
configuration.cache.rules = [
  HostCacheRule("cdn.example.com", .lifetime(.seconds(31_536_000)))
]
let client = APIClient(configuration)
// snippet.end

// snippet.first
let first = try await client.response(GetUser(id: 7))
let second = try await client.response(GetUser(id: 7))
print(first.origin, second.origin)  // network cacheFresh
// snippet.end

// snippet.group
cache.remove(.group(CacheGroup(origin: "https://api.example.com", name: "news")))
// snippet.end

// snippet.else
struct GetNews: APIRequest {
  var path: Path { "/news" }
  // by the server's cache fields; without them, for a minute
  var cache: CachePolicy { .httpElse(.seconds(60)) }
  typealias Response = String
}
// snippet.end
_ = try await client.send(GetNews())

// snippet.key
struct Search: APIRequest {
  let text: String
  var path: Path { "/search" }
  var arguments: Arguments {
    ["q": text, "sent": Date.now.timeIntervalSince1970]
  }
  var cache: CachePolicy {
    .lifetime(.seconds(60))
      .keyed(by: CacheKeyRule(headers: ["Accept-Language"], leavingOut: ["sent"]))
  }
  typealias Response = String
}
// snippet.end
_ = try await client.send(Search(text: "ada"))

// snippet.alias
struct RenameUser: APIRequest {
  let id: Int
  let nick: String
  var path: Path { "/users/\(id)" }
  var method: HTTPMethod { .put }
  var arguments: Arguments { ["nick": nick] }
  var cache: CachePolicy { .inherited.stored(as: [GetUser(id: id)]) }
  typealias Response = GetUser.Response
}
// snippet.end
_ = try await client.send(RenameUser(id: 7, nick: "Ada"))

// snippet.modes
let refreshed = GetUser(id: 7)  // pull to refresh
print(try await client.send(refreshed, options: .cache(.ignoringCache)).nick)

do {
  let other = GetUser(id: 9)
  print(try await client.send(other, options: .cache(.cacheOnly)).nick)
} catch {
  print(error.cacheMiss?.rawValue ?? error.message)  // missing
}
// snippet.end

// snippet.offline
do {
  let user = try await client.response(
    GetUser(id: 7), options: .cache(.networkElseCached))
  print(user.value.nick, user.origin)  // network, or cacheStale

  let kept = GetUser(id: 8)
  print(try await client.send(kept, options: .cache(.cacheOnlyAtAnyAge)).nick)
} catch {
  switch error.cacheMiss {
  case .missing?: print("not stored yet: send it again online")
  case let miss?: print("stored, but not usable:", miss.rawValue)
  case nil: print(error.message)
  }
}
// snippet.end

// snippet.why
let full = try await client.response(GetUser(id: 7))
print(full.origin, full.origin.isFromCache, full.fields["Age"] ?? "")
print(full.metrics.cache?.reason ?? "")  // The stored response is fresh for 179 seconds.
print(full.metrics.cache?.status ?? "")  // Errand; hit; ttl=179
// snippet.end

// snippet.twofold
for try await user in client.cachedThenFresh(GetUser(id: 7)) {
  print(user.value.nick, user.origin)
}

client.start(cachedThenFresh: GetUser(id: 7)) { stored in
  print("stored:", stored.value.nick)
} onEnd: { outcome in
  if !outcome.isUnchanged { print("new:", outcome.value?.nick ?? "none") }
}

@MainActor final class UserPage: CachedCallDelegate {
  func load(with client: APIClient) {
    client.start(cachedThenFresh: GetUser(id: 7), delegate: self)
  }

  func requestCached(_ call: CallInfo, _ response: APIResponse<any Sendable>) { show(call, response) }
  func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>) {
    if !response.isUnchanged { show(call, response) }
  }
  func requestFailed(_ call: CallInfo, _ error: APIError) { print(error.message) }

  private func show(_ call: CallInfo, _ response: APIResponse<any Sendable>) {
    if let user = call.value(of: GetUser.self, in: response) { print(user.nick, response.origin) }
  }
}
// snippet.end

let page = UserPage()
page.load(with: client)
while !client.running.isEmpty { await Task.yield() }

// snippet.entries
for entry in await cache.entries() {
  let label = entry.head.label
  print(label.method, label.url, entry.bodyLength, "bytes,", entry.state)
}
let size = await cache.size()
print(size.entries, "entries,", size.bytes, "of", size.limit ?? 0, "bytes")
print(cache.statistics.hits, "hits in", cache.statistics.requests, "requests")
await cache.flush()  // all pending writes are on the disk
// snippet.end

// snippet.remove
try await client.removeCached(GetUser(id: 7))
cache.removeAll(host: "api.example.com")
cache.removeAll(tag: "feed")
cache.removeAll(olderThan: Date.now.addingTimeInterval(-86_400))
cache.removeAll()
// snippet.end

// snippet.logout
func logOut(_ account: String) async {
  client.configure { $0.credentials = nil }
  await client.endSession(of: account)
}
// snippet.end
await logOut("ada")

// snippet.folders
struct Avatar: APIRequest {
  let name: String
  var path: Path { "/images/\(name)" }
}

let split = ResponseCache(
  folder: folder,
  filters: [
    CacheFolderFilter { folder, request in
      request is Avatar ? folder.appending(path: "images") : folder
    }
  ],
  folders: [folder.appending(path: "images")])
// snippet.end
client.configure { $0.cache.store = .own(split) }
_ = try await client.send(Avatar(name: "ada.png"))

// snippet.tracing
struct Tracing: Interceptor {
  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    var request = request
    request.fields["X-Trace"] = UUID().uuidString
    return try await next(request)
  }

  func mayRevealAccount(in request: HTTPRequest, context: CallContext) -> Bool { false }
}
// snippet.end
client.configure { $0.interceptors.exchanges = [Tracing()] }

// snippet.sealing
let sealing = BodySealing(
  seal: { body in turned(body) },  // encrypt here, with a key from a key store
  open: { stored in turned(stored) })
let sealed = ResponseCache(
  folder: folder.appending(path: "sealed"), sealing: sealing)
// snippet.end
client.configure { $0.cache.store = .own(sealed) }
_ = try await client.send(GetUser(id: 7))
// snippet.close
await sealed.close()  // writes what is pending, and ends the thread of the store
// snippet.end
try? FileManager.default.removeItem(at: folder)

@Sendable func turned(_ bytes: Data) -> Data { Data(bytes.map { $0 ^ 0x20 }) }
