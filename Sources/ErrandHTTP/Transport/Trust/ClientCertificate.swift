public import Foundation

/// A certificate by which this side shows a server who it is, with its private key.
///
/// ```swift
/// settings.clientCertificates = [
///   .pem(certificate: .file(path: certificatePath), key: .file(path: keyPath), hosts: [".example.com"])
/// ]
/// ```
///
/// Neither key nor passphrase shows in descriptions, dumps and errors.
public struct ClientCertificate: Sendable, Hashable {
  /// How certificate and key are written down.
  public enum Form: Sendable, Hashable {
    /// PEM: the certificate, with those of its authorities behind it, and the key. Without a key of its own, the
    /// certificate's source holds both.
    case pem(certificate: CertificateSource, key: CertificateSource?)
    /// PKCS #12: both in one (RFC 7292).
    case pkcs12(CertificateSource)
  }

  /// Certificate and key.
  public var form: Form
  /// What the key is encrypted with; nil for one in the clear.
  public var passphrase: String?
  /// The hosts it is shown to, such as `api.example.com` or `.example.com`; nil for every host that asks.
  public var hosts: [String]?

  /// Makes a client certificate. The transport refuses one that cannot be used.
  public init(_ form: Form, passphrase: String? = nil, hosts: [String]? = nil) {
    self.form = form
    self.passphrase = passphrase
    self.hosts = hosts
  }

  /// One in PEM.
  public static func pem(
    certificate: CertificateSource, key: CertificateSource? = nil, passphrase: String? = nil, hosts: [String]? = nil
  ) -> ClientCertificate {
    ClientCertificate(.pem(certificate: certificate, key: key), passphrase: passphrase, hosts: hosts)
  }

  /// One in PKCS #12.
  public static func pkcs12(
    _ source: CertificateSource, passphrase: String? = nil, hosts: [String]? = nil
  ) -> ClientCertificate {
    ClientCertificate(.pkcs12(source), passphrase: passphrase, hosts: hosts)
  }
}

extension ClientCertificate {
  /// A digest of what servers know the holder of these certificates by; nil for none.
  ///
  /// The bytes of files count, and not their names, since a file may be replaced. Of a file that cannot be read the
  /// name counts.
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
  /// Where it comes from and for whom it is; no secret.
  public var description: String {
    let source =
      switch form {
      case .pem(let certificate, _): "PEM of \(certificate)"
      case .pkcs12(let source): "PKCS #12 of \(source)"
      }
    let passphrase = self.passphrase == nil ? "" : " with a passphrase"
    return "\(source)\(passphrase) for \(hosts.map { $0.joined(separator: ", ") } ?? "every host")"
  }
  /// Where it comes from and for whom it is; no secret.
  public var debugDescription: String { description }
  /// What a dump shows: no secret.
  public var customMirror: Mirror { Mirror(self, children: ["certificate": description], displayStyle: .struct) }
}

/// Where certificates or a key are read from.
public enum CertificateSource: Sendable, Hashable {
  /// A file. It is read when the transport is made, updated or told to reload.
  case file(path: String)
  /// The bytes themselves.
  case data(Data)
}

extension CertificateSource: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The path, or the number of bytes; never what they are.
  public var description: String {
    switch self {
    case .file(let path): "file \(path)"
    case .data(let data): "\(data.count) bytes"
    }
  }
  /// The path, or the number of bytes.
  public var debugDescription: String { description }
  /// What a dump shows: never the bytes.
  public var customMirror: Mirror { Mirror(self, children: ["source": description], displayStyle: .enum) }
}
