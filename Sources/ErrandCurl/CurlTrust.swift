#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import ErrandTLS
  import Foundation

  /// Passes the trust settings of a configuration to libcurl.
  struct CurlTrust: Sendable {
    let settings: TrustSettings

    /// The default settings: the authorities that the system trusts, without pinned keys and client certificates.
    static let standard = CurlTrust(settings: .standard)

    private init(settings: TrustSettings) { self.settings = settings }

    /// Reads the certificate files of a configuration and checks its trust settings.
    init(_ configuration: CurlConfiguration) throws(CurlConfiguration.Invalid) {
      do {
        settings = try TrustSettings(
          configuration.certificateAuthority, pins: configuration.pins,
          clientCertificates: configuration.clientCertificates, policy: configuration.addressPolicy)
      } catch {
        throw CurlConfiguration.Invalid(description: error.description)
      }
    }

    /// The pinned public keys of a host in libcurl's format. Nil if the host has no pinned keys.
    func pins(of host: String) -> String? {
      settings.pins(of: host)?.map { "sha256//\($0)" }.joined(separator: ";")
    }

    // MARK: - Options

    /// Sets the certificate authorities of a new easy handle: for servers, and for the proxy if `hasProxy` is true.
    func apply(to easy: UnsafeMutableRawPointer, hasProxy: Bool) {
      apply(to: easy, CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_CAINFO_BLOB)
      if hasProxy { apply(to: easy, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH, CURLOPT_PROXY_CAINFO_BLOB) }
    }

    private func apply(
      to easy: UnsafeMutableRawPointer, _ file: CURLoption, _ directory: CURLoption, _ blob: CURLoption
    ) {
      func set(_ path: String) {
        errand_easy_set_string(easy, file, path)
        // Without this line, libcurl would also trust the authorities in its directory, and would read the file again
        // for each connection.
        errand_easy_set_string(easy, directory, nil)
      }
      switch settings.authority {
      case .system: if let path = CurlConfiguration.systemAuthorityFile { set(path) }
      case .certificates(_, let path?): set(path)
      case .certificates(let data, nil):
        errand_easy_set_string(easy, file, nil)
        errand_easy_set_string(easy, directory, nil)
        Self.setBlob(easy, blob, data)
      }
    }

    /// Sets the client certificate of an easy handle: the configured certificate at an index. A nil index removes the
    /// current certificate.
    func apply(certificate place: Int?, to easy: UnsafeMutableRawPointer) {
      let certificate = place.map { settings.clientCertificates[$0] }
      Self.setBlob(easy, CURLOPT_SSLCERT_BLOB, certificate?.certificate)
      Self.setBlob(easy, CURLOPT_SSLKEY_BLOB, certificate?.key)
      errand_easy_set_string(easy, CURLOPT_SSLCERTTYPE, certificate?.isPKCS12 == true ? "P12" : "PEM")
      errand_easy_set_string(easy, CURLOPT_KEYPASSWD, certificate?.passphrase)
    }

    private static func setBlob(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ data: Data?) {
      (data ?? Data()).withUnsafeBytes { bytes in
        _ = errand_easy_set_blob(easy, option, bytes.baseAddress, bytes.count)
      }
    }
  }
#endif
