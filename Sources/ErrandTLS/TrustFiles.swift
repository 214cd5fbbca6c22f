#if os(Linux)
  import CErrandTLS
  package import ErrandHTTP
  package import Foundation

  /// The error for trust settings that cannot be used.
  package struct InvalidTrust: Error {
    /// An English sentence that names the setting and how to correct it.
    package let description: String

    package init(_ description: String) { self.description = description }
  }

  /// Reads the files that trust settings name.
  package enum TrustFiles {
    /// Returns the bytes of a source of PEM certificates. Throws an error if the source contains no certificate, or a
    /// damaged one.
    package static func certificates(in source: CertificateSource) throws(InvalidTrust) -> Data {
      guard let data = try bytes(of: source) else {
        throw InvalidTrust("The certificate authority's file cannot be read; give the path of a PEM file.")
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
