#if os(Linux)
  import CErrandTLS
  package import ErrandHTTP
  package import Foundation

  /// A client certificate that was read from its source and checked: its private key matches the certificate.
  package struct LoadedCertificate: Sendable, CustomReflectable {
    /// The mirror for `dump(_:)`, without the key and the passphrase.
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }

    package let certificate: Data
    /// The private key in PEM. Nil for PKCS #12, because a PKCS #12 file contains both the certificate and the key.
    package let key: Data?
    package let passphrase: String?
    private let hosts: [HostPattern]?

    /// Reads the certificate and its private key, and checks that they match.
    package init(_ source: ClientCertificate) throws(InvalidTrust) {
      passphrase = source.passphrase
      hosts = try source.hosts.map(Self.patterns)
      switch source.form {
      case .pem(let certificate, let key):
        self.certificate = try Self.read(certificate, "certificate")
        self.key = try key.map(Self.readKey) ?? self.certificate
      case .pkcs12(let file):
        certificate = try Self.read(file, "PKCS #12 file")
        key = nil
      }
      try check(source)
    }

    package var isPKCS12: Bool { key == nil }

    package func isShown(to host: String) -> Bool { hosts.map { $0.contains { $0.covers(host) } } ?? true }

    private static func patterns(_ hosts: [String]) throws(InvalidTrust) -> [HostPattern] {
      let patterns = hosts.map(HostPattern.init)
      guard !patterns.isEmpty, patterns.allSatisfy(\.isValid) else {
        throw InvalidTrust(
          "The hosts of a client certificate must be like api.example.com or .example.com; nil means every host.")
      }
      return patterns
    }

    private static func readKey(_ source: CertificateSource) throws(InvalidTrust) -> Data {
      try read(source, "key")
    }

    private static func read(_ source: CertificateSource, _ part: String) throws(InvalidTrust) -> Data {
      guard let data = try TrustFiles.bytes(of: source) else {
        throw InvalidTrust(
          "The client certificate's \(part) (\(source)) cannot be read; check path and permissions.")
      }
      guard !data.isEmpty else { throw InvalidTrust("The client certificate's \(part) (\(source)) is empty.") }
      return data
    }

    private func check(_ source: ClientCertificate) throws(InvalidTrust) {
      switch pair {
      case errand_pair_no_certificate:
        try checkIntact(source)
        let form = isPKCS12 ? "PKCS #12" : "PEM"
        throw InvalidTrust("The client certificate (\(source)) holds no certificate in \(form).")
      case errand_pair_no_key:
        let hint =
          passphrase == nil ? "set `passphrase` if the key is encrypted" : "check the passphrase"
        throw InvalidTrust("The key of the client certificate (\(source)) cannot be read; \(hint).")
      case errand_pair_differs:
        throw InvalidTrust(
          "The key of the client certificate (\(source)) belongs to another certificate; pass the matching key.")
      case errand_pair_unsupported: throw InvalidTrust(unsupportedEncryption(source))
      default: break
      }
      try checkIntact(source)
      guard isStrong else {
        throw InvalidTrust(
          "OpenSSL rejects the client certificate (\(source)) or a certificate of its chain, because a key or a "
            + "signature is too weak; use RSA keys of at least 2048 bits or elliptic curves, and SHA-256.")
      }
    }

    /// Throws an error if a certificate is damaged. The certificates after it would not be sent to servers.
    private func checkIntact(_ source: ClientCertificate) throws(InvalidTrust) {
      guard !isPKCS12, let fault = TrustFiles.damage(in: certificate, "The client certificate (\(source))") else {
        return
      }
      throw InvalidTrust(fault)
    }

    private func unsupportedEncryption(_ source: ClientCertificate) -> String {
      let (part, cure) =
        isPKCS12
        ? ("", "read it with `openssl pkcs12 -legacy` and export it again with `openssl pkcs12 -export`")
        : ("key of the ", "encrypt it again with `openssl pkey -aes256 -provider legacy -provider default`")
      return "OpenSSL no longer supports the encryption of the \(part)client certificate (\(source)); \(cure)."
    }

    /// Whether OpenSSL accepts the certificate, its key and its chain at the security level of the system.
    private var isStrong: Bool {
      guard let context = errand_tls_context_make(false) else { return true }
      defer { errand_tls_context_free(context) }
      return use(in: context)
    }

    /// Makes the connections of a context present the certificate. Returns false if OpenSSL rejects it, or if no memory
    /// is available.
    package func use(in context: OpaquePointer) -> Bool {
      certificate.withUnsafeBytes { bytes in
        guard let key else {
          return errand_tls_context_use_pkcs12(context, bytes.baseAddress, bytes.count, passphrase)
        }
        return key.withUnsafeBytes { key in
          errand_tls_context_use_pem(
            context, bytes.baseAddress, bytes.count, key.baseAddress, key.count, passphrase)
        }
      }
    }

    private var pair: errand_pair {
      certificate.withUnsafeBytes { certificate in
        guard let key else { return errand_pkcs12_check(certificate.baseAddress, certificate.count, passphrase) }
        return key.withUnsafeBytes { key in
          errand_pem_check_pair(certificate.baseAddress, certificate.count, key.baseAddress, key.count, passphrase)
        }
      }
    }
  }
#endif
