import ErrandCache
import ErrandCore
import ErrandSupport
import Foundation

/// The names, types and contents of the Redis keys that a ``RedisStore`` uses.
///
/// | key | type | content |
/// |---|---|---|
/// | `P:state` | hash | `era`, `salt`, `seq`, `bound`, `older`, `ages`; never expires |
/// | `P:ERA:v:ENTRY` | hash | the variants of one key, five fields each |
/// | `P:ERA:i:KIND:DIGEST` | set | an index: responses of a target, account, host, tag or group, or of all accounts |
/// | `P:ERA:r:KIND:DIGEST` | set | a removed index whose responses are not all deleted yet |
///
/// `P` is the prefix. `ERA` is 16 hexadecimal digits that change when everything is removed. `ENTRY`, `VARIANT` and
/// `DIGEST` are digests in 64 hexadecimal digits. `KIND` is one letter of ``RedisIndex/Kind``. Each member of a set is
/// `ENTRY` followed by `VARIANT`.
///
/// The fields of `P:state` are the current `era`, the `salt` of all digests, and `seq`, the sequence number of the
/// response that was stored last. The fields `bound` and `older` record the last removal by age: a response is removed
/// if its sequence number is at most `bound` and its response time is before `older`. The field `ages` contains the
/// same two numbers of earlier removals with a later time, separated by spaces.
///
/// Versions before the groups of RFC 9875 named the second key `P:ERA:e:ENTRY`. Their responses are not found, because
/// they are in no index of a group; they expire.
///
/// The name of a variant's field is one letter followed by `VARIANT`:
/// - `m` is the metadata, called "words" in the scripts: the expiry, a sequence number, the response time, and the
///   names of the indexes that must contain the response. Both times are in milliseconds since 1970.
/// - `h` is the head: a ``CacheEntryRecord`` without a body.
/// - `c` is the length and the checksum of the body, eight bytes each, least significant byte first.
/// - `b` is the body.
/// - `u` is the time of the last use in milliseconds since 1970.
///
/// For example, the metadata of a response may be
///
///     1795190400000 17 1795104000000 t:0f… c:9a… h:77… a:3c…
///
/// A response is valid only while every index in its metadata contains the response. So the removal of an index removes
/// all of its responses at once for every application server. If Redis evicts an index to save memory, the responses of
/// the index become invalid, too.
final class RedisLayout: Sendable {
  /// The maximum number of variants (responses that differ by `Vary`) under one key. If there are more, the oldest
  /// variants are removed.
  static let mostVariants = 32

  let prefix: String
  /// The time for which Redis keeps a response, in milliseconds.
  let span: Int64
  private let knownSalt = Locked<Digest?>(nil)

  init(prefix: String, span: Int64) {
    self.prefix = prefix
    self.span = span
  }

  /// The salt of the store (random bytes that are part of all digests). Nil until Redis has returned the salt.
  var salt: Digest? { knownSalt.withLock { $0 } }

  /// Uses a salt from now on. Returns true if another salt was used before.
  func adopt(_ salt: Digest) -> Bool {
    knownSalt.withLock { known in
      defer { known = salt }
      return known != nil && known != salt
    }
  }

  /// Makes a command that runs a script. Every script receives the prefix, the salt and random digits, followed by
  /// `arguments`.
  func call(_ script: RedisScript, _ arguments: [Data]) -> RedisCall {
    let fresh = Digest.random().hex + Digest.random().hex
    let first = [prefix, salt?.hex ?? "", String(fresh.prefix(80))].map { Data($0.utf8) }
    return RedisCall(script: script, arguments: first + arguments)
  }

  func call(_ script: RedisScript, _ arguments: [String] = []) -> RedisCall {
    call(script, arguments.map { Data($0.utf8) })
  }

  /// A pattern for the `SCAN` command of Redis: the prefix of the store, a colon, and `end`, which may contain
  /// wildcards.
  func pattern(_ end: String) -> String {
    var plain = String.UnicodeScalarView()
    // A combining mark after a wildcard belongs to the same `Character`, so the prefix is read by Unicode scalars.
    for scalar in prefix.unicodeScalars {
      if "*?[]\\^-".unicodeScalars.contains(scalar) { plain.append("\\") }
      plain.append(scalar)
    }
    return String(plain) + ":" + end
  }

  /// The names of all indexes that must contain a response, separated by spaces. If one of these indexes does not
  /// contain the response, the response is invalid.
  static func names(_ key: CacheKey, _ head: CacheEntryHead) -> String {
    var indexes = [
      RedisIndex(.target, key.target), RedisIndex(.account, key.account), RedisIndex(host: head.label.host),
      RedisIndex(.anyAccount, key.anyAccount),
    ]
    if let tag = head.label.tag { indexes.append(RedisIndex(tag: tag)) }
    indexes += head.groups.map { RedisIndex(group: $0) }
    return indexes.map(\.name).joined(separator: " ")
  }
}

/// The name of an index: a set that contains the responses of a target, an account, a host, a tag or a group.
struct RedisIndex: Sendable, Hashable {
  enum Kind: Character, Sendable {
    case target = "t"
    case account = "c"
    case host = "h"
    case tag = "g"
    case group = "o"
    case anyAccount = "a"
  }

  /// The name of the index: the letter of its kind, a colon and 64 hexadecimal digits.
  let name: String

  init(_ kind: Kind, _ digest: Digest) { name = "\(kind.rawValue):\(digest.hex)" }
  init(host: String) { self.init(.host, SHA256.digest(of: Array(host.utf8))) }
  init(tag: String) { self.init(.tag, SHA256.digest(of: Array(tag.utf8))) }
  /// A zero byte separates the origin from the name, because neither of them contains one.
  init(group: CacheGroup) {
    self.init(.group, SHA256.digest(of: Array(group.origin.utf8) + [0] + Array(group.name.utf8)))
  }
}

/// One command for Redis: a script and its arguments.
struct RedisCall: Sendable {
  let script: RedisScript
  let arguments: [Data]

  /// Encodes a command in the Redis protocol: the number of parts, then the length and the bytes of each part.
  static func encode(_ parts: [Data]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(parts.reduce(16) { $0 + $1.count + 16 })
    bytes += "*\(parts.count)\r\n".utf8
    for part in parts {
      bytes += "$\(part.count)\r\n".utf8
      bytes += part
      bytes += "\r\n".utf8
    }
    return bytes
  }

  /// Encodes the command as `EVALSHA`. `name` is the SHA-1 digest by which Redis identifies the script.
  func encoded(name: Data) -> [UInt8] {
    Self.encode([Data("EVALSHA".utf8), name, Data("0".utf8)] + arguments)
  }
}

/// The length and the checksum of a body. Redis stores both next to the body, to detect damage.
struct BodyChecksum: Sendable, Equatable {
  let length: Int
  let checksum: UInt64

  init(_ body: Data) {
    length = body.count
    checksum = body.withUnsafeBytes { Checksum64.of($0) }
  }

  /// Decodes sixteen bytes: the length and the checksum, eight bytes each, least significant byte first.
  init?(encoded: Data) {
    guard encoded.count == 16 else { return nil }
    let words = encoded.withUnsafeBytes { bytes in
      (0..<2).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
    }
    guard let length = Int(exactly: words[0]) else { return nil }
    self.length = length
    checksum = words[1]
  }

  var encoded: Data {
    var data = Data()
    for word in [UInt64(length), checksum] { withUnsafeBytes(of: word.littleEndian) { data.append(contentsOf: $0) } }
    return data
  }
}

extension Digest {
  var hex: String { [words.0, words.1, words.2, words.3].map(Self.hexadecimal).joined() }

  init?(hex: String) {
    guard hex.utf8.count == 64 else { return nil }
    var words: [UInt64] = []
    var rest = hex[...]
    while !rest.isEmpty {
      guard rest.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }), let word = UInt64(rest.prefix(16), radix: 16) else {
        return nil
      }
      words.append(word)
      rest = rest.dropFirst(16)
    }
    guard words.count == 4 else { return nil }
    self.init(words: (words[0], words[1], words[2], words[3]))
  }
}
