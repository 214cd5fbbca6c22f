import ErrandSupport
import Foundation

/// The public keys that the certificate of a host may have: one key in use and at least one in reserve.
///
/// A pin is the SHA-256 of a certificate's public key with its header (SubjectPublicKeyInfo, RFC 5280 section 4.1.2.7),
/// in Base64: 44 characters. The certificate must also be valid: the authority, the dates and the host name are checked
/// in addition to the pins.
///
/// ```swift
/// settings.pins = [
///   PublicKeyPins(host: "api.example.com", sha256: [keyInUse, keyInReserve])
/// ]
/// ```
public struct PublicKeyPins: Sendable, Hashable {
  /// A host such as `api.example.com`, or `.example.com` for all of its subdomains. If several entries match a host,
  /// the most specific entry applies.
  public var host: String {
    get { hostBytes.text }
    set { hostBytes = ByteText(newValue) }
  }
  /// The pins: at least two, so that the host stays reachable if the key in use is lost.
  public var sha256: [String] {
    get { pinBytes.map(\.text) }
    set { pinBytes = newValue.map { ByteText($0) } }
  }
  private var hostBytes: ByteText
  private var pinBytes: [ByteText]

  /// Makes the pins of a host. The transport rejects malformed pins.
  public init(host: String, sha256: [String]) {
    hostBytes = ByteText(host)
    pinBytes = sha256.map { ByteText($0) }
  }
}

extension PublicKeyPins {
  /// A sentence about the first invalid entry of a list of pins; nil if all entries are valid.
  package static func fault(of all: [PublicKeyPins]) -> String? {
    if let fault = all.lazy.compactMap(\.fault).first { return fault }
    let hosts = Set(all.map { HostPattern($0.host) })
    return hosts.count == all.count ? nil : "`pins` contains a host twice; merge its pins into one entry."
  }

  private var fault: String? {
    guard HostPattern(host).isValid else {
      return "\"\(host)\" in `pins` is not a host; write it like api.example.com or .example.com."
    }
    guard Set(sha256).count >= 2 else {
      return "The pins of \(host) need at least two different keys, one of them in reserve."
    }
    // Two bits of the last character have no meaning. They must be zero, because libcurl compares the texts.
    let areValid = sha256.allSatisfy { pin in
      Data(base64Encoded: pin).map { $0.count == 32 && $0.base64EncodedString().hasSameBytes(as: pin) } ?? false
    }
    return areValid ? nil : "A pin of \(host) is not the SHA-256 of a public key in Base64, which has 44 characters."
  }
}

/// A pattern for hosts. `api.example.com` matches only this host; `.example.com` matches all subdomains of
/// `example.com`.
package struct HostPattern: Sendable, Hashable {
  /// The pattern in lower case, an IPv6 address in its canonical form.
  private let text: String

  /// Makes a pattern from a text that contains only the pattern, in any case.
  package init(_ text: String) {
    let text = text.lowercased()
    self.text = Self.canonicalAddress(text[...]) ?? text
  }

  /// The pattern in a text that may also contain a scheme, a port and a path, which are ignored. For settings that have
  /// no way to report an invalid host.
  package static func ignoringRest(of text: String) -> HostPattern {
    let rest = HTTPURL.isAbsolute(text) ? text.utf8.drop { $0 != 0x3A }.dropFirst(3) : text.utf8[...]
    let isBelow = rest.first == 0x2E
    let name = String(decoding: isBelow ? rest.dropFirst() : rest, as: UTF8.self)
    // The second form is for an IPv6 address without brackets.
    guard let url = (try? HTTPURL("http://\(name)")) ?? (try? HTTPURL("http://[\(name)]")) else {
      return HostPattern(text)
    }
    return HostPattern((isBelow ? "." : "") + url.origin.hostWithoutDot)
  }

  /// Whether the pattern matches a host, which must be in lower case. A dot at the end of the host is ignored. An IPv6
  /// address matches in every text form, because a URL may contain any of them.
  package func covers(_ host: String) -> Bool {
    let name = host.hasSuffix(".") ? host.dropLast() : host[...]
    if text.hasPrefix(".") { return name.hasSuffix(text) }
    return name == text || Self.canonicalAddress(name) == text
  }

  /// The canonical text of an IPv6 address, in brackets. Nil if the text is no IPv6 address in brackets.
  private static func canonicalAddress(_ text: Substring) -> String? {
    guard text.utf8.first == 0x5B, text.utf8.last == 0x5D, !text.utf8.contains(0) else { return nil }
    var address = [UInt8](repeating: 0, count: 16)
    guard inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1 else { return nil }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
    let canonical = buffer.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return "[\(canonical)]"
  }

  /// A number that is larger for a more specific pattern: an exact host is the most specific, then longer names.
  package var specificity: Int { text.hasPrefix(".") ? text.utf8.count : Int.max }

  /// Whether the pattern is valid: an IPv6 address in brackets, or letters, digits, `-`, `_` and single dots.
  package var isValid: Bool {
    if text.hasPrefix("[") { return Self.canonicalAddress(text[...]) != nil }
    let name = text.hasPrefix(".") ? text.dropFirst() : text[...]
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    return labels.allSatisfy { label in
      !label.isEmpty && label.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x5F }
    }
  }
}
