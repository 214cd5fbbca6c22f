import ErrandRedis
import Foundation

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
