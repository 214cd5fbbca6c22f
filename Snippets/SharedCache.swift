// Several servers share one cache in Redis.
import Errand
import ErrandRedis
import Foundation

struct GetRates: APIRequest {
  var path: Path { "/rates" }
  var cache: CachePolicy { .lifetime(.seconds(60), version: 1) }
  typealias Response = [String: Double]
}

var settings = RedisSettings()
settings.prefix = "shop"  // servers with the same prefix share one store
settings.user = "shop"
settings.password = ProcessInfo.processInfo.environment["REDIS_PASSWORD"]
settings.expiry = .seconds(7 * 86_400)  // Redis removes older entries

let cache = ResponseCache(store: RedisStore(host: "10.0.0.5", settings: settings))
var configuration = ClientConfiguration(baseURL: "https://api.example.com")
configuration.cache.store = .own(cache)
let client = APIClient(configuration)

// One server fetches, the others find the entry:
let rates = try await client.send(GetRates())
print(rates)

// Removed for all of them:
cache.removeAll(host: "api.example.com")

// Before the process ends:
await cache.flush()
