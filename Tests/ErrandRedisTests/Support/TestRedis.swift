import ErrandRedis
import Foundation
import Testing

/// The Redis that the test script has started. All tests share it with unique prefixes.
enum TestRedis {
  /// The value of an environment variable.
  static func setting(_ variable: String) throws -> String {
    try #require(
      ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 },
      "\(variable) is not set: run the tests by `make test`, which starts the servers")
  }

  static var socket: String { get throws { try setting("ERRAND_REDIS_SOCKET") } }

  /// Settings with a unique prefix.
  static func settings(_ change: (inout RedisSettings) -> Void = { _ in }) -> RedisSettings {
    var settings = RedisSettings()
    settings.prefix = "test-\(UUID().uuidString)"
    settings.commandTimeout = .seconds(30)
    settings.connectTimeout = .seconds(30)
    change(&settings)
    return settings
  }

  static func store(_ settings: RedisSettings = settings()) throws -> RedisStore {
    RedisStore(socket: try socket, settings: settings)
  }
}
