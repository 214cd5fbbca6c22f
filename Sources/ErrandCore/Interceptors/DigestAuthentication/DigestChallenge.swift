import Foundation

/// A challenge of the scheme Digest in `WWW-Authenticate` (RFC 7616 section 3.3), and the answer to it. All functions
/// are pure.
struct DigestChallenge: Sendable, Hashable {
  /// The values of one answer, which differ from request to request.
  struct Use: Sendable, Hashable {
    let method: String
    /// The path and the query, as in the request line.
    let target: String
    /// Random text of the client.
    let clientNonce: String
    /// How many requests have used the nonce of the server, including this one.
    let count: UInt32
  }

  let realm: String
  var nonce: String
  let opaque: String?
  /// The name of the algorithm as the server wrote it, such as `SHA-256-sess`; nil if the server named none, which
  /// means MD5.
  let algorithm: String?
  /// Whether the server asks for the quality of protection `auth`. If not, the answer has the older form without a
  /// client nonce.
  let hasQuality: Bool
  /// Whether the server refused the last answer only because its nonce was too old.
  let isStale: Bool
  let hashesUser: Bool

  /// Reads the parameters of a challenge. Nil if it has no realm or no nonce, or if the server accepts only `auth-int`.
  init?(_ challenge: AuthenticationChallenge) {
    guard challenge.scheme == "digest", let realm = challenge["realm"], let nonce = challenge["nonce"] else {
      return nil
    }
    let qualities = challenge["qop"].map { $0.lowercased().split { $0 == "," || $0 == " " } }
    guard qualities?.contains("auth") ?? true else { return nil }
    self.realm = realm
    self.nonce = nonce
    opaque = challenge["opaque"]
    algorithm = challenge["algorithm"]
    hasQuality = qualities != nil
    isStale = challenge["stale"]?.lowercased() == "true"
    hashesUser = challenge["userhash"]?.lowercased() == "true"
  }

  /// The challenge that the first of the given algorithms can answer, with this algorithm. Nil if there is none.
  static func strongest(
    in fields: HTTPFields, _ algorithms: [DigestAlgorithm]
  ) -> (challenge: DigestChallenge, algorithm: DigestAlgorithm)? {
    let offered = AuthenticationChallenge.all(in: fields.values(of: "WWW-Authenticate")).compactMap(
      DigestChallenge.init)
    for algorithm in algorithms {
      if let challenge = offered.first(where: { $0.hashName == algorithm.name }) { return (challenge, algorithm) }
    }
    return nil
  }

  /// The name of the hash in lower case, such as `sha-256`.
  private var hashName: String {
    let name = algorithm?.lowercased() ?? "md5"
    return name.hasSuffix("-sess") ? String(name.dropLast(5)) : name
  }

  private var isSession: Bool { algorithm?.lowercased().hasSuffix("-sess") == true }

  /// The value of `Authorization` (RFC 7616 section 3.4).
  func answer(_ user: String, _ password: String, _ use: Use, _ algorithm: DigestAlgorithm) throws -> String {
    let count = Self.hex(use.count)
    var secret = try Self.hash("\(user):\(realm):\(password)", algorithm)
    if isSession { secret = try Self.hash("\(secret):\(nonce):\(use.clientNonce)", algorithm) }
    let request = try Self.hash("\(use.method):\(use.target)", algorithm)
    let middle = hasQuality ? "\(nonce):\(count):\(use.clientNonce):auth" : nonce
    var parts = try userParts(user, algorithm)
    parts += [Self.quoted("realm", realm), Self.quoted("uri", use.target)]
    if let name = self.algorithm { parts.append("algorithm=\(name)") }
    parts.append(Self.quoted("nonce", nonce))
    if hasQuality { parts += ["nc=\(count)", "qop=auth"] }
    if hasQuality || isSession { parts.append(Self.quoted("cnonce", use.clientNonce)) }
    parts.append(Self.quoted("response", try Self.hash("\(secret):\(middle):\(request)", algorithm)))
    if let opaque { parts.append(Self.quoted("opaque", opaque)) }
    return "Digest " + parts.joined(separator: ", ")
  }

  /// The name of the user: hashed if the server wants that, otherwise in UTF-8 by RFC 8187 if it is not ASCII.
  private func userParts(_ user: String, _ algorithm: DigestAlgorithm) throws -> [String] {
    if hashesUser {
      return [Self.quoted("username", try Self.hash("\(user):\(realm)", algorithm)), "userhash=true"]
    }
    guard !user.utf8.allSatisfy({ $0 < 0x80 }) else { return [Self.quoted("username", user)] }
    let encoded = user.utf8.flatMap { byte in
      ASCII.isAlphanumeric(byte) ? [byte] : [0x25, ASCII.hexDigit(byte >> 4), ASCII.hexDigit(byte & 15)]
    }
    return ["username*=UTF-8''\(String(decoding: encoded, as: UTF8.self))"]
  }

  private static func quoted(_ name: String, _ value: String) -> String {
    let escaped = value.unicodeScalars.reduce(into: "") { text, scalar in
      if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
      text.unicodeScalars.append(scalar)
    }
    return "\(name)=\"\(escaped)\""
  }

  private static func hash(_ text: String, _ algorithm: DigestAlgorithm) throws -> String {
    let hash = try algorithm.makeHash()
    Data(text.utf8).withUnsafeBytes { hash.update($0) }
    return String(decoding: hash.finish().flatMap { [digit($0 >> 4), digit($0 & 15)] }, as: UTF8.self)
  }

  /// The eight hexadecimal digits of a count.
  private static func hex(_ count: UInt32) -> String {
    String(
      decoding: (0..<8).map { digit(UInt8(truncatingIfNeeded: count >> (28 - 4 * UInt32($0)) & 15)) }, as: UTF8.self)
  }

  private static func digit(_ half: UInt8) -> UInt8 { ASCII.lowercased(ASCII.hexDigit(half)) }
}
