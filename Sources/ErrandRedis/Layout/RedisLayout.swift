import ErrandCache
import ErrandCore
import ErrandSupport
import Foundation

/// How a store lies in Redis.
///
/// | key | type | what |
/// |---|---|---|
/// | `P:state` | hash | `era`, `salt`, `seq`, `bound`, `older`; never expires |
/// | `P:ERA:e:ENTRY` | hash | the variants of one key, five fields each |
/// | `P:ERA:i:KIND:DIGEST` | set | the answers of a target, an account, a host, a tag, or of anybody |
/// | `P:ERA:r:KIND:DIGEST` | set | such a set that was removed, whose answers are not all deleted yet |
///
/// `P` is the prefix; `ERA` is 16 hexadecimal digits that change when everything is removed; `ENTRY`, `VARIANT` and
/// `DIGEST` are digests in 64 hexadecimal digits; `KIND` is one letter of ``RedisIndex/Kind``.
/// Members of sets are `ENTRY` and `VARIANT` in one.
///
/// The fields of a variant are one letter and `VARIANT`: `m` the words about it (see below), `h` the head (a
/// ``CacheEntryRecord`` of no body), `c` the body's length and checksum (eight bytes each, lowest first), `b` the body,
/// `u` the last use in milliseconds since 1970. The words are: until when it may be used, its number, its response
/// time, and the names of its indexes, as in
///
///     1795190400000 17 1795104000000 t:0f… c:9a… h:77… a:3c…
///
/// An answer counts only while every index in its words names it. So removing an index removes all of its answers at
/// once, for every server; and where Redis drops an index for want of memory, its answers go with it.
final class RedisLayout: Sendable {
  /// More variants under one key than this lose the oldest.
  static let mostVariants = 32

  let prefix: String
  /// How long an answer may stay, in milliseconds.
  let span: Int64
  private let knownSalt = Locked<Digest?>(nil)

  init(prefix: String, span: Int64) {
    self.prefix = prefix
    self.span = span
  }

  /// The salt as far as it is known.
  var salt: Digest? { knownSalt.withLock { $0 } }

  func adopt(_ salt: Digest) { knownSalt.withLock { $0 = salt } }

  /// A command with the arguments that all scripts have.
  func call(_ script: RedisScript, _ arguments: [Data]) -> RedisCall {
    let fresh = Self.random().hex + Self.random().hex
    let first = [prefix, salt?.hex ?? "", String(fresh.prefix(80))].map { Data($0.utf8) }
    return RedisCall(script: script, arguments: first + arguments)
  }

  func call(_ script: RedisScript, _ arguments: [String] = []) -> RedisCall {
    call(script, arguments.map { Data($0.utf8) })
  }

  /// The pattern for the store's own keys, whose end is given.
  func pattern(_ end: String) -> String {
    let plain = prefix.map { "*?[]\\^-".contains($0) ? "\\\($0)" : String($0) }.joined()
    return plain + ":" + end
  }

  /// The words that name the indexes of an answer.
  static func names(_ key: CacheKey, _ head: CacheEntryHead) -> String {
    var indexes = [
      RedisIndex(.target, key.target), RedisIndex(.account, key.account), RedisIndex(host: head.label.host),
      RedisIndex(.anyAccount, key.anyAccount),
    ]
    if let tag = head.label.tag { indexes.append(RedisIndex(tag: tag)) }
    return indexes.map(\.name).joined(separator: " ")
  }

  private static func random() -> Digest {
    var system = SystemRandomNumberGenerator()
    return Digest(words: (system.next(), system.next(), system.next(), system.next()))
  }
}

/// A set that names answers.
struct RedisIndex: Sendable, Hashable {
  enum Kind: Character, Sendable {
    case target = "t"
    case account = "c"
    case host = "h"
    case tag = "g"
    case anyAccount = "a"
  }

  /// The letter of the kind, a colon and 64 hexadecimal digits.
  let name: String

  init(_ kind: Kind, _ digest: Digest) { name = "\(kind.rawValue):\(digest.hex)" }
  init(host: String) { self.init(.host, SHA256.digest(of: Array(host.utf8))) }
  init(tag: String) { self.init(.tag, SHA256.digest(of: Array(tag.utf8))) }
}
