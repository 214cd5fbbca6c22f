/// The addresses to which a transport may connect. Every address is checked after name resolution.
///
/// A server that fetches URLs given by its users must not connect to its own network. A name that resolves to a private
/// address or a redirect could lead there. Use `publicOnly` to prevent this.
///
/// ```swift
/// settings.addressPolicy = .publicOnly
/// ```
public enum AddressPolicy: Sendable, Hashable {
  /// All addresses.
  case any
  /// Only addresses of these kinds.
  case only(Set<AddressKind>)

  /// Only public addresses of the internet.
  public static let publicOnly = AddressPolicy.only([.global])

  /// Whether a connection to an address of this kind is allowed.
  public func allows(_ kind: AddressKind) -> Bool {
    switch self {
    case .any: true
    case .only(let kinds): kinds.contains(kind)
    }
  }
}
