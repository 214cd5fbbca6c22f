import Foundation

/// The public keys that a host may have, beside a certificate that is valid: one in use and at least one in reserve.
///
/// A pin is the SHA-256 of the certificate's public key with its header (SubjectPublicKeyInfo, RFC 5280 section
/// 4.1.2.7), in Base64: 44 characters. Pins add to the check of authority, dates and host and replace nothing of it.
///
/// ```swift
/// settings.pins = [
///   PublicKeyPins(host: "api.example.com", sha256: [keyInUse, keyInReserve])
/// ]
/// ```
public struct PublicKeyPins: Sendable, Hashable {
  /// A host such as `api.example.com`, or `.example.com` for every host below it; the closest one counts.
  public var host: String
  /// The pins, two at the least, so that a lost key locks nobody out.
  public var sha256: [String]

  /// Makes the pins of a host. The transport refuses malformed ones.
  public init(host: String, sha256: [String]) {
    self.host = host
    self.sha256 = sha256
  }
}

extension PublicKeyPins {
  /// What is wrong with the pins of some hosts; nil where they can be used.
  package static func fault(of all: [PublicKeyPins]) -> String? {
    if let fault = all.lazy.compactMap(\.fault).first { return fault }
    let hosts = Set(all.map { HostPattern($0.host) })
    return hosts.count == all.count ? nil : "`pins` names a host twice; put all of its pins into one."
  }

  private var fault: String? {
    guard HostPattern(host).isSound else {
      return "\"\(host)\" in `pins` is no host; write it like api.example.com or .example.com."
    }
    guard Set(sha256).count >= 2 else {
      return "The pins of \(host) need two different keys at least, one of them in reserve."
    }
    let isSound = sha256.allSatisfy { Data(base64Encoded: $0)?.count == 32 && $0.utf8.count == 44 }
    return isSound ? nil : "A pin of \(host) is not the SHA-256 of a public key in Base64, which has 44 characters."
  }
}

/// A host such as `api.example.com`, or every host below a name that begins with a dot, such as `.example.com`.
package struct HostPattern: Sendable, Hashable {
  private let text: String

  package init(_ text: String) { self.text = text.lowercased() }

  /// Whether it is the pattern of a host, which is given in lower case.
  package func covers(_ host: String) -> Bool { text.hasPrefix(".") ? host.hasSuffix(text) : host == text }

  /// How closely it says which host is meant: an exact one before all others, then the longer name.
  package var closeness: Int { text.hasPrefix(".") ? text.utf8.count : Int.max }

  /// Whether a host can be meant at all: an address in brackets, or letters, digits, `-`, `_` and single dots.
  package var isSound: Bool {
    if text.hasPrefix("[") { return text.hasSuffix("]") && text.utf8.count > 2 }
    let name = text.hasPrefix(".") ? text.dropFirst() : text[...]
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    return labels.allSatisfy { label in
      !label.isEmpty && label.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x5F }
    }
  }
}
