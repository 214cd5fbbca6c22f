/// The addresses to which a transport may connect. Every address is checked after name resolution.
///
/// A server that fetches URLs given by its users must not connect to its own network. A URL could lead there by a
/// redirect, or by a name that resolves to a private address. Use `publicOnly` to prevent this.
///
/// ```swift
/// settings.addressPolicy = .publicOnly
/// ```
public enum AddressPolicy: Sendable, Hashable {
  /// The transport may connect to every address.
  case any
  /// The transport may connect only to addresses of these kinds.
  case only(Set<AddressKind>)

  /// The transport may connect only to public addresses of the internet.
  public static let publicOnly = AddressPolicy.only([.global])

  /// Whether a connection to an address of this kind is allowed.
  public func allows(_ kind: AddressKind) -> Bool {
    switch self {
    case .any: true
    case .only(let kinds): kinds.contains(kind)
    }
  }
}
