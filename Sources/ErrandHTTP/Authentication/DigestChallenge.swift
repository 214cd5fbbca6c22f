package import Foundation

/// A challenge of the scheme Digest in `WWW-Authenticate` or `Proxy-Authenticate` (RFC 7616 sections 3.3 and 3.8), and
/// the answer to it. All functions are pure.
package struct DigestChallenge: Sendable, Hashable {
  /// Computes a hash of bytes.
  package typealias Hash = (Data) throws -> Data

  /// The values of one answer, which differ from request to request.
  package struct Use: Sendable, Hashable {
    let method: String
    /// The request target, as in the request line.
    let target: String
    /// Random text of the client.
    let clientNonce: String
    /// How many requests have used the nonce of the server, including this one.
    let count: UInt32

    package init(method: String, target: String, clientNonce: String, count: UInt32) {
      self.method = method
      self.target = target
      self.clientNonce = clientNonce
      self.count = count
    }
  }

  /// The text of the realm. Like the text of the nonces, it represents the octets that the server sent; see
  /// ``FieldOctets``.
  let realm: String
  /// The nonce of the challenge, or the later one by which the server has replaced it.
  var nonce: String
  /// The nonce of the challenge. Algorithms that end in `-sess` use it for all answers (RFC 7616 section 3.4.2).
  private let firstNonce: String
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
  package init?(_ challenge: AuthenticationChallenge) {
    guard challenge.scheme == "digest", let realm = challenge["realm"], let nonce = challenge["nonce"] else {
      return nil
    }
    let qualities = challenge["qop"].map { $0.lowercased().split { $0 == "," || $0 == " " } }
    guard qualities?.contains("auth") ?? true else { return nil }
    self.realm = realm
    self.nonce = nonce
    firstNonce = nonce
    opaque = challenge["opaque"]
    algorithm = challenge["algorithm"]
    hasQuality = qualities != nil
    isStale = challenge["stale"]?.lowercased() == "true"
    hashesUser = challenge["userhash"]?.lowercased() == "true"
  }

  /// The challenge that the first possible one of the given hashes can answer. Nil if there is none. The names of the
  /// hashes are in lower case, such as `sha-256`.
  package static func strongest(
    in challenges: [AuthenticationChallenge], hashes: [String]
  ) -> DigestChallenge? {
    let offered = challenges.compactMap(DigestChallenge.init)
    return hashes.lazy.compactMap { name in offered.first { $0.hashName == name } }.first
  }

  /// The name of the hash in lower case, such as `sha-256`.
  package var hashName: String {
    let name = algorithm?.lowercased() ?? "md5"
    return name.hasSuffix("-sess") ? String(name.dropLast(5)) : name
  }

  /// Whether the answer to this challenge protects the password less than the answer to another one.
  func isWeaker(than other: DigestChallenge) -> Bool {
    other.hasQuality && !hasQuality || hashName == "md5" && other.hashName != "md5"
  }

  private var isSession: Bool { algorithm?.lowercased().hasSuffix("-sess") == true }

  /// The value of `Authorization` or `Proxy-Authorization` (RFC 7616 section 3.4).
  /// - Throws: The errors of `hash`, which computes the hash that ``hashName`` names.
  package func answer(_ user: String, _ password: String, _ use: Use, _ hash: Hash) rethrows -> String {
    let count = Self.hex(use.count)
    var secret = try Self.hex([.own(user), .received(realm), .own(password)], hash)
    if isSession { secret = try Self.hex([.own(secret), .received(firstNonce), .own(use.clientNonce)], hash) }
    let request = try Self.hex([.own(use.method), .own(use.target)], hash)
    let middle: [HashPart] = hasQuality ? [.own(count), .own(use.clientNonce), .own("auth")] : []
    var parts = try userParts(user, hash)
    parts += [Self.quoted("realm", realm), Self.quoted("uri", use.target)]
    if let name = self.algorithm { parts.append("algorithm=\(name)") }
    parts.append(Self.quoted("nonce", nonce))
    if hasQuality { parts += ["nc=\(count)", "qop=auth"] }
    if hasQuality || isSession { parts.append(Self.quoted("cnonce", use.clientNonce)) }
    let response = try Self.hex([.own(secret), .received(nonce)] + middle + [.own(request)], hash)
    parts.append(Self.quoted("response", response))
    if let opaque { parts.append(Self.quoted("opaque", opaque)) }
    return "Digest " + parts.joined(separator: ", ")
  }

  /// The name of the user: hashed if the server wants that, otherwise in UTF-8 by RFC 8187 if it is not ASCII.
  private func userParts(_ user: String, _ hash: Hash) rethrows -> [String] {
    if hashesUser {
      return [Self.quoted("username", try Self.hex([.own(user), .received(realm)], hash)), "userhash=true"]
    }
    guard !user.utf8.allSatisfy({ $0 < 0x80 }) else { return [Self.quoted("username", user)] }
    let encoded = user.utf8.flatMap { ASCII.isAlphanumeric($0) ? [$0] : ASCII.percentEncoded($0) }
    return ["username*=UTF-8''\(String(decoding: encoded, as: UTF8.self))"]
  }

  private static func quoted(_ name: String, _ value: String) -> String {
    let escaped = value.unicodeScalars.reduce(into: "") { text, scalar in
      if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
      text.unicodeScalars.append(scalar)
    }
    return "\(name)=\"\(escaped)\""
  }

  /// A part of a text that is hashed.
  private enum HashPart {
    /// A text of the client, which is hashed in UTF-8.
    case own(String)
    /// A text of the server, whose octets are hashed (RFC 7616 section 3.4).
    case received(String)

    var bytes: [UInt8] {
      switch self {
      case .own(let text): Array(text.utf8)
      case .received(let text): FieldOctets.bytes(of: text)
      }
    }
  }

  /// The hash of parts that are joined by colons, in hexadecimal digits.
  private static func hex(_ parts: [HashPart], _ hash: Hash) rethrows -> String {
    ASCII.hex(try hash(Data(parts.map(\.bytes).joined(separator: [0x3A]))))
  }

  /// The eight hexadecimal digits of a count.
  private static func hex(_ count: UInt32) -> String {
    ASCII.hex((0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * UInt32($0))) })
  }
}
