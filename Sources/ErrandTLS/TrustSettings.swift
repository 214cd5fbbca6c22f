#if os(Linux)
  import CErrandTLS
  package import ErrandHTTP
  package import Foundation

  /// The trust settings of a configuration, after the files were read and the keys were checked. Each event loop has
  /// one constant value, so connections with different trust settings are never mixed.
  package struct TrustSettings: Sendable {
    /// The authorities whose server certificates are accepted.
    package enum Authority: Sendable {
      case system
      /// PEM certificates, and the path of the file from which they were read. The path is nil if they were given as
      /// bytes.
      case certificates(Data, path: String?)
    }

    /// The public keys that certain hosts must have.
    private struct Pin: Sendable {
      let hosts: HostPattern
      let sha256: [String]
    }

    package let authority: Authority
    package let clientCertificates: [LoadedCertificate]
    private let pins: [Pin]
    private let policy: AddressPolicy
    private let isForTests: Bool

    /// The default settings: the authorities that the system trusts, without pinned keys and client certificates.
    package static let standard = TrustSettings()

    private init() {
      authority = .system
      pins = []
      clientCertificates = []
      policy = .any
      isForTests = false
    }

    /// Reads the certificate files of the settings and checks the settings.
    package init(
      _ authority: CertificateAuthority, pins: [PublicKeyPins], clientCertificates: [ClientCertificate],
      policy: AddressPolicy
    ) throws(InvalidTrust) {
      self.authority = try Self.read(authority)
      if let fault = PublicKeyPins.fault(of: pins) { throw InvalidTrust(fault) }
      self.pins = pins.map { Pin(hosts: HostPattern($0.host), sha256: $0.sha256) }
        .sorted { $0.hosts.specificity > $1.hosts.specificity }
      var loaded: [LoadedCertificate] = []
      for certificate in clientCertificates { loaded.append(try LoadedCertificate(certificate)) }
      self.clientCertificates = loaded
      self.policy = policy
      isForTests = authority.isForTests
    }

    private static func read(_ authority: CertificateAuthority) throws(InvalidTrust) -> Authority {
      switch authority {
      case .system: return .system
      case .file(let path): return .certificates(try TrustFiles.certificates(in: .file(path: path)), path: path)
      case .certificates(let data): return .certificates(try TrustFiles.certificates(in: .data(data)), path: nil)
      case .test(let source): return .certificates(try TrustFiles.certificates(in: source), path: nil)
      }
    }

    // MARK: - Hosts

    /// Whether the settings are the same for all hosts.
    package var isUniform: Bool { pins.isEmpty && clientCertificates.isEmpty }

    /// The pinned public keys of a host as SHA-256 in Base64: those of the most specific pattern that matches the host.
    /// Nil if the host has no pinned keys.
    package func pins(of host: String) -> [String]? { pins.first { $0.hosts.covers(host) }?.sha256 }

    /// The index of the client certificate for a host. Nil if no certificate is configured for the host.
    package func certificate(for host: String) -> Int? { clientCertificates.firstIndex { $0.isShown(to: host) } }

    // MARK: - Addresses

    package var allowsAllAddresses: Bool { policy == .any && !isForTests }

    /// Whether connections to addresses of a kind are allowed. The kind is nil for an address that is not an IP
    /// address.
    package func allows(_ kind: AddressKind?) -> Bool {
      guard let kind else { return true }
      return policy.allows(kind) && (!isForTests || kind == .loopback)
    }

    /// The message about an address to which a connection is not allowed: the reason and the cure.
    package func refusal(of address: String, _ kind: AddressKind?, host: String) -> String {
      let place = "The host \(host) has the address \(address)"
      if isForTests, kind != .loopback {
        return "\(place), but a test authority is trusted only on loopback addresses; use the server's authority."
      }
      return "\(place) (\(kind.map { "\($0)" } ?? "unknown")), which `addressPolicy` forbids; allow this kind of "
        + "address if you trust the host."
    }
  }

  package struct InvalidTrust: Error {
    /// An English sentence that names the setting and how to correct it.
    package let description: String

    package init(_ description: String) { self.description = description }
  }

  package enum TrustFiles {
    /// Returns the bytes of a source of PEM certificates. Throws an error if the source contains no certificate, or a
    /// damaged one.
    package static func certificates(in source: CertificateSource) throws(InvalidTrust) -> Data {
      guard let data = try bytes(of: source) else {
        throw InvalidTrust("The certificate authority (\(source)) cannot be read; give the path of a PEM file.")
      }
      let (count, damaged) = countCertificates(in: data)
      if let fault = fault(of: source, certificates: count, damaged: damaged) { throw InvalidTrust(fault) }
      return data
    }

    /// Returns the number of certificates in a PEM text, or a negative reason why they could not be counted; and the
    /// number of the damaged certificate, beginning with 1. The latter is 0 if no certificate is damaged.
    private static func countCertificates(in pem: Data) -> (count: Int, damaged: Int) {
      var damaged: CInt = 0
      let count = pem.withUnsafeBytes { errand_pem_count_certificates($0.baseAddress, $0.count, &damaged) }
      return (Int(count), Int(damaged))
    }

    /// The reason why not all certificates of a PEM text can be used. Nil if none is damaged. OpenSSL does not read
    /// beyond a damaged certificate.
    static func damage(in pem: Data, _ name: String) -> String? {
      let damaged = countCertificates(in: pem).damaged
      return damaged > 0 ? damage(of: name, certificate: damaged) : nil
    }

    private static func damage(of name: String, certificate number: Int) -> String {
      "\(name) is damaged at certificate \(number); replace this part of the PEM with an intact copy."
    }

    /// The reason why a source of PEM certificates cannot be used. Nil if it can be used.
    /// - Parameters:
    ///   - count: The number of certificates, or a negative reason why they could not be counted.
    ///   - damaged: The number of the damaged certificate, if `count` says that one is damaged.
    package static func fault(of source: CertificateSource, certificates count: Int, damaged: Int = 0) -> String? {
      switch count {
      case 0: "The certificate authority (\(source)) holds no certificate; give certificates in PEM."
      case Int(errand_pem_no_memory): "No memory is available to read the certificate authority (\(source))."
      case Int(errand_pem_too_long):
        "The certificate authority (\(source)) is longer than 2 GiB; give fewer certificates."
      case Int(errand_pem_damaged): damage(of: "The certificate authority (\(source))", certificate: damaged)
      default: nil
      }
    }

    /// Returns the bytes of a source. Returns nil for a file that cannot be read.
    static func bytes(of source: CertificateSource) throws(InvalidTrust) -> Data? {
      switch source {
      case .data(let data): return data
      case .file(let path):
        guard path.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) else { throw InvalidTrust(controlCharacter) }
        return try? Data(contentsOf: URL(fileURLWithPath: path))
      }
    }

    /// The message for a text with a control character.
    package static let controlCharacter = "A setting of the transport contains a control character; remove it."
  }
#endif
