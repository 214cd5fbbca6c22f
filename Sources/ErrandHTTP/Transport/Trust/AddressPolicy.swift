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
  package func allows(_ kind: AddressKind) -> Bool {
    switch self {
    case .any: true
    case .only(let kinds): kinds.contains(kind)
    }
  }
}

/// The purpose of an IP address according to the registries of IANA (RFC 6890).
public enum AddressKind: Sendable, Hashable, CaseIterable {
  /// The address belongs to the machine itself: 127.0.0.0/8, ::1.
  case loopback
  /// The address is unspecified: 0.0.0.0/8, ::. Many systems treat such an address as an address of the machine itself.
  case unspecified
  /// The address is on the same network link, or belongs to a metadata service of a cloud: 169.254.0.0/16, fe80::/10.
  case linkLocal
  /// The address belongs to a private network: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7, fec0::/10.
  case privateNetwork
  /// The address is used between a provider and its customers, or inside a cloud: 100.64.0.0/10.
  case shared
  /// The address belongs to a group of hosts: 224.0.0.0/4, ff00::/8.
  case multicast
  /// The address is reserved for documentation, benchmarks or future use. It is not used on the public internet.
  case reserved
  /// The address is a public address of the internet: every address that has no other kind.
  case global

  /// Makes the kind of an address from its 4 or 16 bytes in network order; nil for any other number of bytes.
  ///
  /// An IPv6 address that contains an IPv4 address has the kind of the IPv4 address. This applies to mapped
  /// (::ffff:0:0/96), compatible (::/96), translated (64:ff9b::/96) and 6to4 addresses (2002::/16).
  package init?(bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    switch bytes.count {
    case 4: self = Self.four(bytes)
    case 16: self = Self.six(bytes)
    default: return nil
    }
  }

  private static func four(_ bytes: [UInt8]) -> AddressKind {
    four.first { $0.contains(bytes) }?.kind ?? .global
  }

  private static func six(_ bytes: [UInt8]) -> AddressKind {
    if let range = six.first(where: { $0.contains(bytes) }) { return range.kind }
    for (prefix, place) in embeddings where bytes.starts(with: prefix) {
      return four(Array(bytes[place..<(place + 4)]))
    }
    // Currently only 2000::/3 contains public addresses.
    return bytes[0] & 0xE0 == 0x20 ? .global : .reserved
  }

  /// The prefixes of IPv6 addresses that contain an IPv4 address, with the offset of the IPv4 address in bytes.
  private static let embeddings: [(prefix: [UInt8], place: Int)] = [
    ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 12), ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 12),
    ([0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0], 12), ([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 12),
    ([0x20, 0x02], 2),
  ]

  private static let four: [AddressRange] = [
    AddressRange([0], 8, .unspecified), AddressRange([10], 8, .privateNetwork), AddressRange([100, 64], 10, .shared),
    AddressRange([127], 8, .loopback), AddressRange([169, 254], 16, .linkLocal),
    // The address of Azure's metadata service. No other metadata service has a global address.
    AddressRange([168, 63, 129, 16], 32, .linkLocal),
    AddressRange([172, 16], 12, .privateNetwork), AddressRange([192, 0, 0], 24, .reserved),
    AddressRange([192, 0, 2], 24, .reserved), AddressRange([192, 88, 99], 24, .reserved),
    AddressRange([192, 168], 16, .privateNetwork), AddressRange([198, 18], 15, .reserved),
    AddressRange([198, 51, 100], 24, .reserved), AddressRange([203, 0, 113], 24, .reserved),
    AddressRange([224], 4, .multicast), AddressRange([240], 4, .reserved),
  ]

  private static let six: [AddressRange] = [
    AddressRange([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 128, .unspecified),
    AddressRange([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128, .loopback),
    AddressRange([0xFE, 0x80], 10, .linkLocal), AddressRange([0xFE, 0xC0], 10, .privateNetwork),
    AddressRange([0xFC], 7, .privateNetwork), AddressRange([0xFF], 8, .multicast),
    // 2001::/23 is for IETF protocols. It contains the Teredo addresses, in which an IPv4 address is hidden. The other
    // two ranges are for documentation.
    AddressRange([0x20, 0x01, 0x00], 23, .reserved), AddressRange([0x20, 0x01, 0x0D, 0xB8], 32, .reserved),
    AddressRange([0x3F, 0xFF, 0x00], 20, .reserved),
  ]
}

/// A range of addresses that share a prefix.
private struct AddressRange {
  let kind: AddressKind
  private let prefix: [UInt8]
  private let bits: Int

  init(_ prefix: [UInt8], _ bits: Int, _ kind: AddressKind) {
    self.prefix = prefix
    self.bits = bits
    self.kind = kind
  }

  /// Whether the range contains an address.
  func contains(_ bytes: [UInt8]) -> Bool {
    for bit in 0..<bits {
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      let expected = bit / 8 < prefix.count ? prefix[bit / 8] : 0
      guard bit / 8 < bytes.count, bytes[bit / 8] & mask == expected & mask else { return false }
    }
    return true
  }
}
