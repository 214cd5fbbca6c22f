import ErrandRedis
import Foundation
import Testing

extension StoreKind {
  /// A store in Redis, each with a unique prefix; empty if the test script has not started Redis.
  static let redis: [StoreKind] =
    ProcessInfo.processInfo.environment["ERRAND_REDIS_SOCKET"].map { socket in
      [
        StoreKind(testDescription: "Redis", keepsMemoryOnly: false, isBounded: false) { _, _ in
          var settings = RedisSettings()
          (settings.connectTimeout, settings.commandTimeout) = (.seconds(30), .seconds(30))
          settings.prefix = "conformance-\(UUID().uuidString)"
          return RedisStore(socket: socket, settings: settings)
        }
      ]
    } ?? []
}

/// Without the address of Redis, the suites for all stores do not include it. This test is then skipped, and a skipped
/// test fails `make test`.
struct RedisPresenceTests {
  @Test(.enabled(if: !StoreKind.redis.isEmpty, "ERRAND_REDIS_SOCKET is not set"))
  func `Redis runs in the store suites`() {
    #expect(StoreKind.all.contains { $0.testDescription == "Redis" })
  }
}
