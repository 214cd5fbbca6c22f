import ErrandCache

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
