import ErrandRedis
import Foundation
import Testing

extension StoreKind {
  /// The store in Redis, each with a prefix of its own; none where the test script started no Redis.
  static let redis: [StoreKind] =
    ProcessInfo.processInfo.environment["ERRAND_REDIS_SOCKET"].map { socket in
      [
        StoreKind(testDescription: "Redis", keepsMemoryOnly: false, isBounded: false) { _, _ in
          var settings = RedisSettings()
          settings.prefix = "conformance-\(UUID().uuidString)"
          return RedisStore(socket: socket, settings: settings)
        }
      ]
    } ?? []
}

/// Without its address Redis is left out of the suites that run over every store. This test is skipped then, and a skipped
/// test fails `make test`.
@Suite struct RedisPresenceTests {
  @Test(.enabled(if: !StoreKind.redis.isEmpty, "ERRAND_REDIS_SOCKET is not set"))
  func `Redis takes part in every store's suite`() {
    #expect(StoreKind.all.contains { $0.testDescription == "Redis" })
  }
}
