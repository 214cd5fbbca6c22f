import ErrandSupport
public import Foundation

/// A certificate with its private key, by which the client authenticates itself to a server.
///
/// ```swift
/// settings.clientCertificates = [
///   .pem(certificate: .file(path: certificatePath), key: .file(path: keyPath), hosts: [".example.com"])
/// ]
/// ```
///
/// Descriptions, dumps and errors show neither the key nor the passphrase.
public struct ClientCertificate: Sendable, Hashable {
  package enum Form: Sendable, Hashable {
    case pem(certificate: CertificateSource, key: CertificateSource?)
    case pkcs12(CertificateSource)
  }

  package let form: Form
  /// The passphrase of the key; nil if the key is not encrypted.
  public var passphrase: String? {
    get { passphraseBytes?.text }
    set { passphraseBytes = newValue.map { ByteText($0) } }
  }
  /// The hosts that receive the certificate, such as `api.example.com` or `.example.com`; nil for every host that
  /// requests a certificate.
  public var hosts: [String]? {
    get { hostBytes?.map(\.text) }
    set { hostBytes = newValue?.map { ByteText($0) } }
  }
  // Certificates are compared by the bytes of their texts, because another normal form is another passphrase.
  private var passphraseBytes: ByteText?
  private var hostBytes: [ByteText]?

  private init(_ form: Form, passphrase: String?, hosts: [String]?) {
    self.form = form
    self.passphrase = passphrase
    self.hosts = hosts
  }

  /// Makes a client certificate from PEM text: the certificate, followed by the certificates of its authorities, and
  /// the key. If `key` is nil, the source of the certificate must also contain the key. The transport rejects a
  /// certificate that cannot be used.
  public static func pem(
    certificate: CertificateSource, key: CertificateSource? = nil, passphrase: String? = nil, hosts: [String]? = nil
  ) -> ClientCertificate {
    ClientCertificate(.pem(certificate: certificate, key: key), passphrase: passphrase, hosts: hosts)
  }

  /// Makes a client certificate from PKCS #12 data: one file with the certificate and the key (RFC 7292). The transport
  /// rejects a certificate that cannot be used.
  public static func pkcs12(
    _ source: CertificateSource, passphrase: String? = nil, hosts: [String]? = nil
  ) -> ClientCertificate {
    ClientCertificate(.pkcs12(source), passphrase: passphrase, hosts: hosts)
  }
}

extension ClientCertificate {
  /// A digest that identifies the client by these certificates; nil if there are no certificates.
  ///
  /// The digest is computed from the contents of files and not from their names, because a file may be replaced. If a
  /// file cannot be read, its name is used.
  package static func identity(of certificates: [ClientCertificate]) -> String? {
    if certificates.isEmpty { return nil }
    var hash = StableHash()
    for certificate in certificates {
      switch certificate.form {
      case .pem(let source, let key):
        hash.add("pem")
        hash.add(bytes(of: source))
        hash.add(key.map(bytes) ?? [])
      case .pkcs12(let source):
        hash.add("pkcs12")
        hash.add(bytes(of: source))
      }
      for host in certificate.hosts ?? ["*"] { hash.add(host) }
    }
    return hash.text
  }

  private static func bytes(of source: CertificateSource) -> [UInt8] {
    switch source {
    case .data(let data): Array(data)
    case .file(let path): (try? Data(contentsOf: URL(filePath: path))).map(Array.init) ?? Array(path.utf8)
    }
  }
}

/// Computes the identity of a transport of this library: see ``Transport/identity``.
package enum TransportIdentity {
  /// A digest of the client certificates, and of the settings that send the requests for a URL to another server than
  /// the URL names. Nil if none of them is set.
  package static func digest(
    _ certificates: [ClientCertificate], unixSocket: String? = nil, addressOverrides: [String: String] = [:]
  ) -> String? {
    let certificates = ClientCertificate.identity(of: certificates)
    if unixSocket == nil, addressOverrides.isEmpty { return certificates }
    var hash = StableHash()
    for text in [certificates, unixSocket] { hash.add(text ?? "") }
    for (place, addresses) in addressOverrides.sorted(by: { $0.key.precedesByBytes($1.key) }) {
      hash.add(place)
      hash.add(addresses)
    }
    return hash.text
  }
}

extension ClientCertificate: Masked {
  /// The source of the certificate and the hosts, without secrets.
  public var description: String {
    let source =
      switch form {
      case .pem(let certificate, _): "PEM of \(certificate)"
      case .pkcs12(let source): "PKCS #12 of \(source)"
      }
    let passphrase = self.passphrase == nil ? "" : " with a passphrase"
    return "\(source)\(passphrase) for \(hosts.map { $0.joined(separator: ", ") } ?? "every host")"
  }
}

/// The source of a certificate or a key. Paths are compared byte by byte.
public enum CertificateSource: Sendable, Hashable {
  /// The certificate or the key is in a file. The transport reads the file when the transport is created, updated or
  /// asked to reload.
  case file(path: String)
  /// The certificate or the key is given by its bytes.
  case data(Data)
}

extension CertificateSource: ComparedByBytes {
  package var identity: some Hashable {
    let (path, data): (String?, Data?) =
      switch self {
      case .file(let path): (path, nil)
      case .data(let data): (nil, data)
      }
    return Parts(path.map { ByteText($0) }, data)
  }
}

extension CertificateSource: Masked {
  /// The path or the number of bytes, never the bytes themselves.
  public var description: String {
    switch self {
    case .file(let path): "file \(path)"
    case .data(let data): "\(data.count) bytes"
    }
  }
}

/// The authorities whose server certificates are accepted.
public enum CertificateAuthority: Sendable, Hashable {
  /// The authorities that the system trusts.
  case system
  /// Only the authorities in a file of PEM certificates.
  case file(path: String)
  /// Only the authorities in these PEM certificates.
  case certificates(Data)
  /// For tests: only the authorities in these PEM certificates, and only for loopback addresses. Connections to other
  /// addresses fail with ``TransportFailure/Kind/forbiddenAddress``. So a release that contains this setting by mistake
  /// trusts no server.
  case test(CertificateSource)
}

extension CertificateAuthority: ComparedByBytes {
  package var identity: some Hashable {
    let source: CertificateSource? =
      switch self {
      case .system: nil
      case .file(let path): .file(path: path)
      case .certificates(let data): .data(data)
      case .test(let source): source
      }
    return Parts(isForTests, source)
  }

  /// Whether this is a test authority. If so, connections are allowed only to loopback addresses.
  package var isForTests: Bool {
    if case .test = self { true } else { false }
  }
}

/// A version of TLS.
public enum TLSVersion: Sendable, Hashable {
  /// TLS 1.2 (RFC 5246).
  case tls1_2
  /// TLS 1.3 (RFC 8446).
  case tls1_3
}
