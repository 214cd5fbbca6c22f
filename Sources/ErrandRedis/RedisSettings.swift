import ErrandCore
import Foundation

/// How a ``RedisStore`` uses Redis.
///
/// Connections are not encrypted: hiredis' TLS is not used. Let Redis listen on a Unix socket, in a private network, or
/// behind a tunnel.
public struct RedisSettings: Sendable, Hashable {
  /// What the names of all keys begin with. Stores with the same prefix in the same database are one store.
  ///
  /// The default is `errand:` and the name of the program, so that two applications do not share responses unless they
  /// choose to. Programs that shall share them set the same prefix.
  public var prefix = "errand:" + ProcessInfo.processInfo.processName
  /// The user of Redis' access control list, if it is not the default one. Needs a password.
  public var user: String?
  /// The password; nil where Redis asks for none.
  public var password: String?
  /// The number of the database.
  public var database = 0
  /// How long an entry may stay after it was stored or confirmed; Redis itself removes it then. A second at the least,
  /// ten years at the most.
  public var expiry = Duration.seconds(30 * 86_400)
  /// How many bytes the body of one entry may have; a larger one is not stored.
  public var entryLimit = 8 << 20
  /// How many bytes of entries may wait to be written; what is beyond is not stored.
  public var backlogLimit = 16 << 20
  /// How long connecting may take, the greetings included.
  public var connectTimeout = Duration.seconds(1)
  /// How long Redis may be silent while it owes an answer; then the connection is given up.
  public var commandTimeout = Duration.seconds(2)

  /// Makes settings for a Redis without a password.
  public init() {}

  /// The expiry in milliseconds, held to what makes sense.
  var span: Int64 {
    let milliseconds = expiry.clampedNanoseconds / 1_000_000
    return min(max(milliseconds, 1_000), 10 * 366 * 86_400_000)
  }

  var limits: RedisLimits {
    RedisLimits(connect: connectTimeout, command: commandTimeout, backlog: max(0, backlogLimit))
  }

  /// The longest reply: another server may store longer bodies than this one.
  var mostReplyBytes: Int {
    let (sum, overflow) = max(0, entryLimit).addingReportingOverflow(64 << 20)
    return overflow ? .max : sum
  }

  /// What Redis is told first on a new connection.
  var greetings: [[String]] {
    var greetings: [[String]] = []
    if let password { greetings.append(["AUTH"] + (user.map { [$0] } ?? []) + [password]) }
    if database != 0 { greetings.append(["SELECT", String(database)]) }
    return greetings
  }
}

extension RedisSettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The settings without the password.
  public var description: String {
    "prefix \(prefix), database \(database), user \(user ?? "default"), password \(password == nil ? "none" : "•")"
  }
  /// The settings without the password.
  public var debugDescription: String { description }
  /// What a dump shows: the settings without the password.
  public var customMirror: Mirror { Mirror(self, children: ["settings": description], displayStyle: .struct) }
}
