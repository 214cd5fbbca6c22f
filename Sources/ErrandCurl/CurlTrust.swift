#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Foundation

  /// What a configuration says of trust, its files read and its keys checked. One loop has one of it for ever, so
  /// connections under different trust never meet.
  struct CurlTrust: Sendable {
    /// Who vouches for servers.
    enum Authority: Sendable {
      /// A file that libcurl reads and keeps; nil for what it was built for.
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

    /// Reads and checks what a configuration says.
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

    /// Whether all hosts are treated alike, so that a handle need not be told of each.
    var isUniform: Bool { pins.isEmpty && certificates.isEmpty }

    /// The pins of a host in libcurl's form; nil for one without.
    func pins(of host: String) -> String? { pins.first { $0.hosts.covers(host) }?.keys }

    /// The place of the certificate that is shown to a host; nil where none is for it.
    func certificate(for host: String) -> Int? { certificates.firstIndex { $0.isShown(to: host) } }

    /// Whether any address may be connected to.
    var allowsAllAddresses: Bool { policy == .any && !isForTests }

    /// Whether an address may be connected to; nil stands for one that is none of the internet protocol.
    func allows(_ kind: AddressKind?) -> Bool {
      guard let kind else { return true }
      return policy.allows(kind) && (!isForTests || kind == .loopback)
    }

    /// Why an address is not connected to, and the cure.
    func refusal(of address: CurlAddress, host: String) -> String {
      let place = "The host \(host) has the address \(address.text)"
      if isForTests, address.kind != .loopback {
        return "\(place), but a test authority is trusted on loopback alone; trust the server's own authority instead."
      }
      let kind = address.kind?.rawValue ?? "unknown"
      return "\(place) (\(kind)), which `addressPolicy` forbids; allow that kind if the host is meant."
    }

    // MARK: - Options

    /// Tells a new easy handle who vouches for servers, and for a proxy that is spoken to over TLS.
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
        // With a directory beside the file libcurl would trust it too, and read the file anew for each connection.
        errand_easy_set_string(easy, directory, nil)
      case .data(let data):
        errand_easy_set_string(easy, file, nil)
        errand_easy_set_string(easy, directory, nil)
        Self.setBlob(easy, blob, data)
      }
    }

    /// Gives an easy handle the certificate at a place, or takes away the one it has.
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

    /// The bytes of a source that holds certificates.
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
