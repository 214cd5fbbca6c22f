import ErrandHTTP
import Foundation
import Testing

struct AddressKindTests {
  static let rows: [(String, AddressKind)] = [
    ("127.0.0.1", .loopback), ("127.255.255.254", .loopback), ("128.0.0.1", .global), ("0.0.0.0", .unspecified),
    ("0.1.2.3", .unspecified), ("10.0.0.1", .privateNetwork), ("11.0.0.1", .global),
    ("172.15.255.255", .global), ("172.16.0.1", .privateNetwork), ("172.31.255.255", .privateNetwork),
    ("172.32.0.0", .global), ("192.168.1.1", .privateNetwork), ("192.169.0.1", .global),
    ("169.254.169.254", .linkLocal), ("169.254.0.1", .linkLocal), ("168.63.129.16", .linkLocal),
    ("168.63.129.17", .global), ("100.63.255.255", .global), ("100.64.0.1", .shared), ("100.100.100.200", .shared),
    ("100.127.255.255", .shared), ("100.128.0.0", .global), ("192.0.0.192", .reserved), ("192.0.2.1", .reserved),
    ("198.18.0.1", .reserved), ("198.19.255.255", .reserved), ("198.20.0.0", .global), ("198.51.100.1", .reserved),
    ("203.0.113.1", .reserved), ("224.0.0.1", .multicast), ("239.255.255.255", .multicast),
    ("240.0.0.1", .reserved), ("255.255.255.255", .reserved), ("8.8.8.8", .global),
    ("::", .unspecified), ("::1", .loopback), ("fe80::1", .linkLocal), ("febf::1", .linkLocal),
    ("fec0::1", .privateNetwork), ("fc00::1", .privateNetwork), ("fd00:ec2::254", .privateNetwork),
    ("ff02::1", .multicast), ("2001:db8::1", .reserved), ("3fff::1", .reserved), ("2001::1", .reserved),
    ("100::1", .reserved), ("4000::1", .reserved), ("2606:4700::1111", .global), ("2a00:1450::1", .global),
    ("::ffff:127.0.0.1", .loopback), ("::ffff:10.0.0.1", .privateNetwork), ("::ffff:169.254.169.254", .linkLocal),
    ("::ffff:8.8.8.8", .global), ("::127.0.0.1", .loopback), ("::8.8.8.8", .global),
    ("::ffff:0:10.0.0.1", .privateNetwork), ("64:ff9b::10.0.0.1", .privateNetwork),
    ("64:ff9b::127.0.0.1", .loopback), ("64:ff9b::169.254.169.254", .linkLocal), ("64:ff9b::8.8.8.8", .global),
    ("64:ff9b:1::1", .reserved), ("2002:a00:1::1", .privateNetwork), ("2002:7f00:1::1", .loopback),
    ("2002:808:808::1", .global),
  ]

  @Test(arguments: rows)
  func `address has the expected kind`(text: String, kind: AddressKind) throws {
    let bytes = try #require(Self.bytes(of: text))
    #expect(AddressKind(bytes: bytes) == kind)
    #expect(AddressPolicy.publicOnly.allows(kind) == (kind == .global))
    #expect(AddressPolicy.any.allows(kind))
  }

  @Test func `other lengths are not addresses`() {
    for count in [0, 1, 3, 5, 15, 17] { #expect(AddressKind(bytes: [UInt8](repeating: 1, count: count)) == nil) }
  }

  /// The bytes of a numeric address, parsed by the system.
  private static func bytes(of text: String) -> [UInt8]? {
    var room = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &room) == 1 { return Array(room[..<4]) }
    return inet_pton(AF_INET6, text, &room) == 1 ? room : nil
  }
}
