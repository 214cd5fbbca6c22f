import Foundation
import Testing

@testable import ErrandURLSession

struct CertificatePartsTests {
  private typealias Fake = FakeChallenge

  @Test func `the public key matches openssl's`() {
    #expect(CertificateParts(der: Fake.leaf)?.publicKey == Fake.publicKey)
    #expect(CertificateParts(der: Data([0]) + Fake.leaf)?.publicKey == nil)
    #expect(CertificateParts(der: (Data([0]) + Fake.leaf).dropFirst())?.publicKey == Fake.publicKey)
  }

  @Test func `equal names mean self-issued`() {
    #expect(CertificateParts(der: Fake.leaf)?.isSelfIssued == false)
    #expect(CertificateParts(der: Fake.authority)?.isSelfIssued == true)
  }

  @Test func `truncated or extended certificates are rejected`() {
    for count in 0..<Fake.leaf.count { #expect(CertificateParts(der: Fake.leaf.prefix(count)) == nil) }
    #expect(CertificateParts(der: Fake.leaf + [0]) == nil)
  }

  @Test func `a damaged certificate never traps`() {
    for place in 0..<min(Fake.leaf.count, 256) {
      for byte: UInt8 in [0x00, 0x7F, 0x80, 0x84, 0xFF] {
        var damaged = Fake.leaf
        damaged[place] = byte
        _ = CertificateParts(der: damaged)
      }
    }
    #expect(CertificateParts(der: Data([0x30, 0x80])) == nil)
    #expect(CertificateParts(der: Data([0x30, 0xFF] + Array(repeating: 0xFF, count: 200))) == nil)
  }

  @Test func `certificates are read from PEM`() {
    let text = Data("a remark\n".utf8) + Fake.pem(Fake.authority, Fake.leaf)
    #expect(CertificateParts.certificates(inPEM: text) == [Fake.authority, Fake.leaf])
    let lines = String(decoding: text, as: UTF8.self).replacing("\n", with: "\r\n")
    #expect(CertificateParts.certificates(inPEM: Data(lines.utf8)) == [Fake.authority, Fake.leaf])
    #expect(CertificateParts.certificates(inPEM: text.dropLast(30)) == nil)
    #expect(CertificateParts.certificates(inPEM: Data()) == [])
  }
}
