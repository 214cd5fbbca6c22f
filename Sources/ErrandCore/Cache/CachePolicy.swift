/// Whether and how the answers to a request are kept.
///
/// ```swift
/// var cache: CachePolicy { .lifetime(.seconds(180), version: 2) }
/// ```
///
/// A policy of the request beats that of its family, and this the client's rule for the host and the client's own. The
/// models share one store and never read each other's entries.
public struct CachePolicy: Sendable, Hashable {
  /// How an answer is kept.
  package enum Model: UInt8, Sendable, Hashable {
    /// As the request declares.
    case lifetime = 1
    /// As the server says.
    case http = 2
    /// As the server says, and as the request declares where the server says nothing.
    case httpElse = 3
  }

  /// Whether somebody else decides.
  package let isInherited: Bool
  /// The model; nil where nothing is kept.
  package let model: Model?
  /// The declared lifetime; zero for a model without one.
  package let lifetime: Duration
  /// The version of what is kept; an entry of another one is never used.
  package let version: Int

  private init(_ model: Model?, _ lifetime: Duration = .zero, _ version: Int = 0, isInherited: Bool = false) {
    self.isInherited = isInherited
    self.model = model
    self.lifetime = lifetime
    self.version = version
  }

  /// As the family says, the client's rule for the host, or the client; nothing where nobody says anything.
  public static let inherited = CachePolicy(nil, isInherited: true)
  /// Nothing is kept and nothing is read.
  public static let none = CachePolicy(nil)

  /// Kept for as long as declared, whatever the server says. Zero or less: nothing is kept.
  ///
  /// Where a request declares it itself, for any method; where its family, a host's rule or the client does, for safe
  /// methods alone, so that what changes something is sent.
  ///
  /// `no-store` of the server keeps the answer off the disk. Once expired it is validated where it can be.
  public static func lifetime(_ lifetime: Duration, version: Int = 0) -> CachePolicy {
    lifetime > .zero ? CachePolicy(.lifetime, lifetime, version) : .none
  }

  /// Kept as the server says, by the rules of a private cache (RFC 9111, RFC 5861, RFC 8246).
  public static let http = http(version: 0)

  /// Kept as the server says; an entry of another version is never used.
  public static func http(version: Int) -> CachePolicy { CachePolicy(.http, .zero, version) }

  /// Kept as the server says where it says something explicit, and for `lifetime` where it does not.
  public static func httpElse(_ lifetime: Duration, version: Int = 0) -> CachePolicy {
    CachePolicy(.httpElse, lifetime, version)
  }
}
