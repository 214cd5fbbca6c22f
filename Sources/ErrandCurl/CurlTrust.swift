#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Foundation

  /// The trust settings of a configuration, after the files were read and the keys were checked. Each event loop has
  /// one constant value, so connections with different trust settings are never mixed.
  struct CurlTrust: Sendable {
    /// The authorities whose server certificates are accepted.
    enum Authority: Sendable {
      /// The path of a file that libcurl reads and caches. Nil for the default that libcurl was built with.
      case file(String?)
      case data(Data)
    }

    /// The public keys that certain hosts must have, in libcurl's format.
    private struct Pin: Sendable {
      let hosts: HostPattern
      let keys: String
    }

    private let authority: Authority
    private let pins: [Pin]
    private let certificates: [CurlClientCertificate]
    private let policy: AddressPolicy
    private let isForTests: Bool

    /// The default settings: the authorities that the system trusts, without pinned keys and client certificates.
    static let standard = CurlTrust()

    private init() {
      authority = .file(CurlConfiguration.systemAuthorityFile)
      pins = []
      certificates = []
      policy = .any
      isForTests = false
    }

    /// Reads the certificate files of a configuration and checks its trust settings.
    init(_ configuration: CurlConfiguration) throws(CurlConfiguration.Invalid) {
      authority = try Self.authority(configuration.certificateAuthority)
      if let fault = PublicKeyPins.fault(of: configuration.pins) { throw Self.invalid(fault) }
      pins = configuration.pins.map { pins in
        Pin(hosts: HostPattern(pins.host), keys: pins.sha256.map { "sha256//\($0)" }.joined(separator: ";"))
      }
      .sorted { $0.hosts.specificity > $1.hosts.specificity }
      var certificates: [CurlClientCertificate] = []
      for certificate in configuration.clientCertificates {
        certificates.append(try CurlClientCertificate(certificate))
      }
      self.certificates = certificates
      policy = configuration.addressPolicy
      isForTests = configuration.isForTests
    }

    // MARK: - Hosts and addresses

    /// Whether the settings are the same for all hosts, so that a handle needs no settings per host.
    var isUniform: Bool { pins.isEmpty && certificates.isEmpty }

    /// The pinned public keys of a host in libcurl's format. Nil if the host has no pinned keys.
    func pins(of host: String) -> String? { pins.first { $0.hosts.covers(host) }?.keys }

    /// The index of the client certificate for a host. Nil if no certificate is configured for the host.
    func certificate(for host: String) -> Int? { certificates.firstIndex { $0.isShown(to: host) } }

    /// Whether connections to all addresses are allowed.
    var allowsAllAddresses: Bool { policy == .any && !isForTests }

    /// Whether connections to addresses of a kind are allowed. The kind is nil for an address that is not an IP
    /// address.
    func allows(_ kind: AddressKind?) -> Bool {
      guard let kind else { return true }
      return policy.allows(kind) && (!isForTests || kind == .loopback)
    }

    /// The message about an address to which a connection is not allowed: the reason and the cure.
    func refusal(of address: CurlAddress, host: String) -> String {
      let place = "The host \(host) has the address \(address.text)"
      if isForTests, address.kind != .loopback {
        return "\(place), but a test authority is trusted only on loopback addresses; use the server's authority."
      }
      let kind = address.kind?.rawValue ?? "unknown"
      return "\(place) (\(kind)), which `addressPolicy` forbids; allow this kind of address if you trust the host."
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
      switch authority {
      case .file(nil): break
      case .file(let path?):
        errand_easy_set_string(easy, file, path)
        // Without this line, libcurl would also trust the authorities in its directory, and would read the file again
        // for each connection.
        errand_easy_set_string(easy, directory, nil)
      case .data(let data):
        errand_easy_set_string(easy, file, nil)
        errand_easy_set_string(easy, directory, nil)
        Self.setBlob(easy, blob, data)
      }
    }

    /// Sets the client certificate of an easy handle: the configured certificate at an index. A nil index removes the
    /// current certificate.
    func apply(certificate place: Int?, to easy: UnsafeMutableRawPointer) {
      let certificate = place.map { certificates[$0] }
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

    // MARK: - Reading

    private static func authority(
      _ authority: CurlConfiguration.CertificateAuthority
    ) throws(CurlConfiguration.Invalid) -> Authority {
      switch authority {
      case .system: return .file(CurlConfiguration.systemAuthorityFile)
      case .file(let path):
        _ = try certificates(in: .file(path: path))
        return .file(path)
      case .certificates(let data): return .data(try certificates(in: .data(data)))
      case .test(let source): return .data(try certificates(in: source))
      }
    }

    /// Returns the bytes of a source of PEM certificates. Throws an error if the source contains no certificate.
    private static func certificates(in source: CertificateSource) throws(CurlConfiguration.Invalid) -> Data {
      guard let data = try bytes(of: source) else {
        throw invalid("The certificate authority's file cannot be read; give the path of a PEM file.")
      }
      let count = data.withUnsafeBytes { errand_pem_count_certificates($0.baseAddress, $0.count) }
      if let fault = fault(of: source, certificates: Int(count)) { throw invalid(fault) }
      return data
    }

    /// The reason why a source of PEM certificates cannot be used. Nil if it can be used, or if OpenSSL is not
    /// available to count its certificates.
    static func fault(of source: CertificateSource, certificates count: Int) -> String? {
      switch count {
      case 0: "The certificate authority (\(source)) holds no certificate; give certificates in PEM."
      case Int(errand_pem_no_memory): "No memory is available to read the certificate authority (\(source))."
      case Int(errand_pem_too_long):
        "The certificate authority (\(source)) is longer than 2 GiB; give fewer certificates."
      default: nil
      }
    }

    /// Returns the bytes of a source. Returns nil for a file that cannot be read.
    static func bytes(of source: CertificateSource) throws(CurlConfiguration.Invalid) -> Data? {
      switch source {
      case .data(let data): return data
      case .file(let path):
        try CurlConfiguration.check(path)
        return try? Data(contentsOf: URL(fileURLWithPath: path))
      }
    }

    static func invalid(_ text: String) -> CurlConfiguration.Invalid { CurlConfiguration.Invalid(description: text) }
  }
#endif
