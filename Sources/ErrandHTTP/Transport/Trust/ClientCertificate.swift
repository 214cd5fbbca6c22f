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
  /// The format of the certificate and the key.
  public enum Form: Sendable, Hashable {
    /// PEM: the certificate, followed by the certificates of its authorities, and the key. If `key` is nil, the source
    /// of the certificate must also contain the key.
    case pem(certificate: CertificateSource, key: CertificateSource?)
    /// PKCS #12: one file with the certificate and the key (RFC 7292).
    case pkcs12(CertificateSource)
  }

  /// The certificate and the key, with their format.
  public var form: Form
  /// The passphrase of the key; nil if the key is not encrypted.
  public var passphrase: String?
  /// The hosts that receive the certificate, such as `api.example.com` or `.example.com`; nil for every host that
  /// requests a certificate.
  public var hosts: [String]?

  /// Makes a client certificate. The transport rejects a certificate that cannot be used.
  public init(_ form: Form, passphrase: String? = nil, hosts: [String]? = nil) {
    self.form = form
    self.passphrase = passphrase
    self.hosts = hosts
  }

  /// Makes a client certificate from PEM text.
  public static func pem(
    certificate: CertificateSource, key: CertificateSource? = nil, passphrase: String? = nil, hosts: [String]? = nil
  ) -> ClientCertificate {
    ClientCertificate(.pem(certificate: certificate, key: key), passphrase: passphrase, hosts: hosts)
  }

  /// Makes a client certificate from PKCS #12 data (RFC 7292).
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

extension ClientCertificate: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
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
  /// The source of the certificate and the hosts, without secrets.
  public var debugDescription: String { description }
  /// The mirror that a dump shows. It contains no secrets.
  public var customMirror: Mirror { Mirror(self, children: ["certificate": description], displayStyle: .struct) }
}

/// The source of a certificate or a key.
public enum CertificateSource: Sendable, Hashable {
  /// The certificate or the key is in a file. The transport reads the file when the transport is created, updated or
  /// asked to reload.
  case file(path: String)
  /// The certificate or the key is given by its bytes.
  case data(Data)
}

extension CertificateSource: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The path or the number of bytes, never the bytes themselves.
  public var description: String {
    switch self {
    case .file(let path): "file \(path)"
    case .data(let data): "\(data.count) bytes"
    }
  }
  /// The path or the number of bytes, never the bytes themselves.
  public var debugDescription: String { description }
  /// The mirror that a dump shows. It does not contain the bytes.
  public var customMirror: Mirror { Mirror(self, children: ["source": description], displayStyle: .enum) }
}
