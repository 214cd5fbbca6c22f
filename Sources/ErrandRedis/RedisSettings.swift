public import ErrandCore
import Foundation

/// The settings of a ``RedisStore``.
///
/// Connections are not encrypted, because the TLS support of hiredis is not used. Let Redis listen on a Unix socket, in
/// a private network, or behind a tunnel.
public struct RedisSettings: Sendable, Hashable {
  /// The prefix of all key names. Two stores with the same prefix in the same database share their entries.
  ///
  /// The default is `errand:` and the name of the program, so that two applications do not share responses by accident.
  /// Programs that should share responses must set the same prefix.
  public var prefix = "errand:" + ProcessInfo.processInfo.processName
  /// The user name in the access control list of Redis; nil for the default user. A user name requires a password.
  public var user: String?
  /// The password; nil if Redis requires none.
  public var password: String?
  /// The number of the Redis database, from 0.
  public var database = 0
  /// The time for which Redis keeps an entry after it was stored or validated. A value outside the range from one
  /// second to ten years is clamped to this range.
  public var expiry = Duration.seconds(30 * 86_400)
  /// The maximum size of the body of one entry, in bytes. An entry with a larger body is not stored.
  public var entryLimit = 8 << 20
  /// The maximum size of all entries that wait to be written, in bytes. When the limit is reached, further entries are
  /// not stored.
  public var backlogLimit = 16 << 20
  /// The maximum time to connect. It includes authentication and the loading of the scripts.
  public var connectTimeout = Duration.seconds(1)
  /// The maximum time in which Redis sends no bytes although a reply is missing. Afterwards the connection is closed.
  public var commandTimeout = Duration.seconds(2)

  /// Makes settings for a Redis server without a password.
  public init() {}

  /// ``expiry`` in milliseconds, clamped to the range from one second to ten years.
  var span: Int64 {
    let milliseconds = expiry.clampedNanoseconds / 1_000_000
    return min(max(milliseconds, 1_000), 10 * 366 * 86_400_000)
  }

  /// The maximum length of a reply in bytes. It is larger than ``entryLimit``, because another application server may
  /// have a higher limit and store longer bodies.
  var mostReplyBytes: Int {
    let (sum, overflow) = max(0, entryLimit).addingReportingOverflow(64 << 20)
    return overflow ? .max : sum
  }

  /// The commands that a new connection sends first, to authenticate and to select the database.
  var greetings: [[String]] {
    var greetings: [[String]] = []
    if let password { greetings.append(["AUTH"] + (user.map { [$0] } ?? []) + [password]) }
    if database != 0 { greetings.append(["SELECT", String(database)]) }
    return greetings
  }
}

extension RedisSettings: Masked {
  /// The settings, without the password.
  public var description: String {
    "prefix \(prefix), database \(database), user \(user ?? "default"), password \(password == nil ? "none" : "•")"
  }
}
