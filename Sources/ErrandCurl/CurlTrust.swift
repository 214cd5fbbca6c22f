#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Foundation

  /// The trust settings of a configuration, with files read and keys checked. A loop has one constant value, so
  /// connections under different trust are never mixed.
  struct CurlTrust: Sendable {
    /// The authorities whose server certificates are accepted.
    enum Authority: Sendable {
      /// A file that libcurl reads and caches; nil for the default that libcurl was built with.
      case file(String?)
      case data(Data)
    }

    /// The pins of some hosts, in libcurl's form.
    private struct Pin: Sendable {
      let hosts: HostPattern
      let keys: String
    }

    private let authority: Authority
    private let pins: [Pin]
    private let certificates: [CurlClientCertificate]
    private let policy: AddressPolicy
    private let isForTests: Bool

    /// The system's trust.
    static let standard = CurlTrust()

    private init() {
      authority = .file(CurlConfiguration.systemAuthorityFile)
      pins = []
      certificates = []
      policy = .any
      isForTests = false
    }

    /// Reads and checks the settings of a configuration.
    init(_ configuration: CurlConfiguration) throws(CurlConfiguration.Invalid) {
      authority = try Self.authority(configuration.certificateAuthority)
      if let fault = PublicKeyPins.fault(of: configuration.pins) { throw Self.invalid(fault) }
      pins = configuration.pins.map { pins in
        Pin(hosts: HostPattern(pins.host), keys: pins.sha256.map { "sha256//\($0)" }.joined(separator: ";"))
      }
      .sorted { $0.hosts.closeness > $1.hosts.closeness }
      var certificates: [CurlClientCertificate] = []
      for certificate in configuration.clientCertificates {
        certificates.append(try CurlClientCertificate(certificate))
      }
      self.certificates = certificates
      policy = configuration.addressPolicy
      isForTests = configuration.isForTests
    }

    // MARK: - Hosts and addresses

    /// Whether all hosts are treated equally, so that a handle needs no settings per host.
    var isUniform: Bool { pins.isEmpty && certificates.isEmpty }

    /// The pins of a host in libcurl's form; nil if the host has none.
    func pins(of host: String) -> String? { pins.first { $0.hosts.covers(host) }?.keys }

    /// The index of the certificate for a host; nil if there is none.
    func certificate(for host: String) -> Int? { certificates.firstIndex { $0.isShown(to: host) } }

    /// Whether connections to all addresses are allowed.
    var allowsAllAddresses: Bool { policy == .any && !isForTests }

    /// Whether a connection to an address is allowed. The kind is nil for an address that is not an IP address.
    func allows(_ kind: AddressKind?) -> Bool {
      guard let kind else { return true }
      return policy.allows(kind) && (!isForTests || kind == .loopback)
    }

    /// Why a connection to an address is not allowed, and the cure.
    func refusal(of address: CurlAddress, host: String) -> String {
      let place = "The host \(host) has the address \(address.text)"
      if isForTests, address.kind != .loopback {
        return "\(place), but a test authority is trusted only on loopback addresses; use the server's authority."
      }
      let kind = address.kind?.rawValue ?? "unknown"
      return "\(place) (\(kind)), which `addressPolicy` forbids; allow that kind if the host is intended."
    }

    // MARK: - Options

    /// Sets the authorities of a new easy handle, also those for a TLS proxy.
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

    /// Sets the client certificate at an index. Nil removes the present certificate.
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

    /// The bytes of a source that contains certificates.
    private static func certificates(in source: CertificateSource) throws(CurlConfiguration.Invalid) -> Data {
      guard let data = try bytes(of: source) else {
        throw invalid("The certificate authority's file cannot be read; give the path of a PEM file.")
      }
      let count = data.withUnsafeBytes { errand_pem_count_certificates($0.baseAddress, $0.count) }
      guard count != 0 else {
        throw invalid("The certificate authority (\(source)) holds no certificate; give certificates in PEM.")
      }
      return data
    }

    /// The bytes of a source; nil for a file that cannot be read.
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
