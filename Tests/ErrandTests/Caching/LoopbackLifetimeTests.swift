import Errand
import ErrandCache
import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Declared lifetimes over the platform's transport, with a memory store over a disk store: versions and accounts (K2),
/// read modes (K3), methods, keys and folders (K5).
struct LoopbackLifetimeTests {
  private struct Info: APIRequest {
    var version = 1
    var method = HTTPMethod.get
    var arguments = Arguments()
    var cacheKey = CacheKeyRule()
    var cachedAs = CacheTargets.own
    var headers = RequestHeaders()
    var path: Path { "/info" }
    var cache: CachePolicy {
      .lifetime(.seconds(180), version: version).keyed(by: cacheKey).stored(as: cachedAs)
    }
    typealias Response = String
  }

  /// A server that counts its responses, a client with a disk cache, and the folder of that cache.
  private struct World: ~Copyable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-lifetime-\(UUID().uuidString)")
    let server: LoopbackServer
    let disk: SQLiteStore
    let client: APIClient

    init(_ change: (inout ClientConfiguration) -> Void = { _ in }) throws {
      let answers = Recorded<Int>()
      server = try LoopbackServer { request in
        answers.append(1)
        return .ok("\(request.method) \(answers.count)")
      }
      var configuration = ClientConfiguration(baseURL: server.url)
      disk = SQLiteStore(folder: folder)
      configuration.cache.store = .own(ResponseCache(store: TieredStore(base: disk)))
      // A call waits at most 250 ms for the disk. With a clock that stands still, a slow machine does not matter.
      configuration.timers = ManualClock()
      change(&configuration)
      client = APIClient(configuration)
    }

    deinit { discardFolder(folder) }
  }

  @Test func `new response version loads again`() async throws {
    let world = try World()
    for (version, text) in [(1, "GET 1"), (1, "GET 1"), (2, "GET 2"), (2, "GET 2")] {
      #expect(try await world.client.send(Info(version: version)) == text)
    }
    let other = await world.client.outcome(of: Info(version: 1), options: .cache(.cacheOnly))
    #expect(other.error?.cacheMiss == .otherVersion)
  }

  @Test func `new app version loads again`() async throws {
    let world = try World { $0.cache.appVersion = "1.0" }
    _ = try await world.client.send(Info())
    world.client.configure { $0.cache.appVersion = "1.1" }
    let miss = await world.client.outcome(of: Info(), options: .cache(.cacheOnly))
    #expect(miss.error?.cacheMiss == .otherAppVersion)
    #expect(try await world.client.send(Info()) == "GET 2")
  }

  @Test func `accounts do not share responses`() async throws {
    let world = try World { $0.credentials = FixedCredential(.bearer("a"), account: "ada") }
    #expect(try await world.client.send(Info()) == "GET 1")
    world.client.configure { $0.credentials = FixedCredential(.bearer("e"), account: "eve") }
    let miss = await world.client.outcome(of: Info(), options: .cache(.cacheOnly))
    #expect(miss.error?.cacheMiss == .otherAccount)
    #expect(try await world.client.send(Info()) == "GET 2")
    world.client.configure { $0.credentials = FixedCredential(.bearer("a"), account: "ada") }
    #expect(try await world.client.send(Info()) == "GET 1")
    #expect(world.server.requests.map { $0.headers["Authorization"] } == ["Bearer a", "Bearer e"])
  }

  @Test func `new cookie is no other account`() async throws {
    let jar = CookieJar()
    let world = try World {
      $0.credentials = FixedCredential(.bearer("a"), account: "ada")
      $0.cookies = .jar(jar)
    }
    _ = try await world.client.send(Info())
    jar.set(try Cookie("sid", "1", host: "127.0.0.1", isSecure: false))
    let miss = await world.client.outcome(of: Info(), options: .cache(.cacheOnly))
    #expect(miss.error?.cacheMiss == .missing)
  }

  @Test func `read modes work with the disk`() async throws {
    let world = try World()
    let miss = await world.client.outcome(of: Info(), options: .cache(.cacheOnly))
    #expect(miss.error?.cacheMiss == .missing)
    let ways: [(CacheReadMode, String, ResponseOrigin)] = [
      (.asDeclared, "GET 1", .network), (.cacheOnly, "GET 1", .cacheFresh), (.ignoringCache, "GET 2", .network),
      (.asDeclared, "GET 2", .cacheFresh), (.withoutCache, "GET 3", .network), (.cachedElseLoad, "GET 2", .cacheFresh),
      (.networkElseCached, "GET 4", .network),
    ]
    for (mode, text, origin) in ways {
      let answer = try await world.client.response(Info(), options: .cache(mode))
      #expect(answer.value == text && answer.origin == origin, "\(mode)")
    }
    world.server.stop()
    let offline = try await world.client.response(Info(), options: .cache(.networkElseCached))
    #expect(offline.value == "GET 4" && offline.origin.isFromCache)
  }

  @Test func `request body is part of the key`() async throws {
    let world = try World()
    func search(_ words: String, at time: Int) -> Info {
      Info(
        method: .post, arguments: ["words": words, "time": time], cacheKey: CacheKeyRule(leavingOut: ["time"]))
    }
    #expect(try await world.client.send(search("fern", at: 1)) == "POST 1")
    #expect(
      try await world.client.send(search("fern", at: 2)) == "POST 1", "the excluded time stamp is not part of the key")
    #expect(try await world.client.send(search("moss", at: 3)) == "POST 2")
  }

  @Test func `chosen header is part of the key`() async throws {
    let world = try World()
    func info(_ language: String) -> Info {
      Info(cacheKey: CacheKeyRule(headers: ["Accept-Language"]), headers: ["Accept-Language": .text(language)])
    }
    for (language, text) in [("de", "GET 1"), ("en", "GET 2"), ("de", "GET 1")] {
      #expect(try await world.client.send(info(language)) == text)
    }
  }

  @Test func `response may be stored for another request`() async throws {
    let world = try World()
    #expect(try await world.client.send(Info(method: .post, cachedAs: [Info()])) == "POST 1")
    #expect(try await world.client.send(Info()) == "POST 1")
    #expect(world.server.requests.count == 1)
  }

  @Test func `stored responses survive the client`() async throws {
    let world = try World()
    _ = try await world.client.send(Info())
    await world.disk.close()
    world.client.configure { $0.cache.store = .own(ResponseCache(store: SQLiteStore(folder: world.folder))) }
    let answer = try await world.client.response(Info(), options: .cache(.cacheOnly))
    #expect(answer.value == "GET 1" && answer.origin == .cacheFresh)
    #expect(world.server.requests.count == 1)
  }
}
