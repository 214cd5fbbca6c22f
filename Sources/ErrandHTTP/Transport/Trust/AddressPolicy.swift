/// To which addresses a transport may connect, asked for each one after the name was resolved.
///
/// A server that fetches what its users name must not be led into its own network, neither by a name that means a
/// private address nor by a redirect: `publicOnly` is for it.
///
/// ```swift
/// settings.addressPolicy = .publicOnly
/// ```
public enum AddressPolicy: Sendable, Hashable {
  /// To all.
  case any
  /// To addresses of these kinds alone.
  case only(Set<AddressKind>)

  /// To addresses of the internet alone.
  public static let publicOnly = AddressPolicy.only([.global])

  /// Whether an address of this kind may be connected to.
  public func allows(_ kind: AddressKind) -> Bool {
    switch self {
    case .any: true
    case .only(let kinds): kinds.contains(kind)
    }
  }
}
