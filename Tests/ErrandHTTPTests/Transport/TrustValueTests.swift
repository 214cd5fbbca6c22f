import ErrandHTTP
import Foundation
import Testing

/// The values of a transport's configuration are compared by bytes: a file name, a passphrase or a password in another
/// normal form is another one, although Swift's strings are equal.
struct TrustValueTests {
  private static let forms = ["ad\u{e1}", "ada\u{301}"]

  private func differ<Value: Hashable>(_ make: (String) -> Value) -> Bool {
    let values = Self.forms.map(make)
    return values[0] != values[1] && values[0] == make(Self.forms[0]) && Set(values + values).count == 2
  }

  @Test func `proxies are compared by bytes`() {
    #expect(differ { TransportProxy.url("http://\($0):80") })
    #expect(differ { TransportProxy.url("http://h:80", user: $0, password: "p") })
    #expect(differ { TransportProxy.url("http://h:80", user: "u", password: $0) })
    #expect(Set([TransportProxy.none, .environment, .url("http://h:80")]).count == 3)
  }

  @Test func `certificates are compared by bytes`() {
    #expect(differ { CertificateSource.file(path: $0) })
    #expect(differ { ClientCertificate.pem(certificate: .file(path: $0)) })
    #expect(differ { ClientCertificate.pkcs12(.data(Data()), passphrase: $0) })
    #expect(differ { ClientCertificate.pkcs12(.data(Data()), hosts: [$0]) })
    #expect(differ { CertificateAuthority.file(path: $0) })
    #expect(differ { CertificateAuthority.test(.file(path: $0)) })
    #expect(differ { PublicKeyPins(host: $0, sha256: []) } && differ { PublicKeyPins(host: "h", sha256: [$0]) })
    #expect(Set([CertificateAuthority.system, .certificates(Data()), .file(path: "")]).count == 3)
  }

  @Test func `texts of certificates are kept`() {
    var certificate = ClientCertificate.pkcs12(.data(Data()), passphrase: "p", hosts: ["a", "b"])
    #expect(certificate.passphrase == "p" && certificate.hosts == ["a", "b"])
    certificate.passphrase = nil
    certificate.hosts = nil
    #expect(certificate.passphrase == nil && certificate.hosts == nil)
    var pins = PublicKeyPins(host: "h", sha256: ["1"])
    pins.host = ".h"
    pins.sha256.append("2")
    #expect(pins == PublicKeyPins(host: ".h", sha256: ["1", "2"]))
  }

  @Test func `other servers are another identity`() {
    let identities = [
      TransportIdentity.digest([]), TransportIdentity.digest([], unixSocket: "/a"),
      TransportIdentity.digest([], unixSocket: "/b"),
      TransportIdentity.digest([], addressOverrides: ["h:80": "1.1.1.1"]),
      TransportIdentity.digest([], addressOverrides: ["h:80": "1.1.1.2"]),
      TransportIdentity.digest([.pem(certificate: .data(Data([1])))]),
      TransportIdentity.digest([.pem(certificate: .data(Data([1])))], unixSocket: "/a"),
    ]
    #expect(identities[0] == nil && Set(identities).count == identities.count)
    let places = (0..<50).map { ("h\($0):80", "1.1.1.1") }
    let one = Dictionary(uniqueKeysWithValues: places)
    let other = Dictionary(uniqueKeysWithValues: places.reversed())
    #expect(
      TransportIdentity.digest([], addressOverrides: one) == TransportIdentity.digest([], addressOverrides: other))
  }
}
