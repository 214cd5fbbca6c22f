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
    /// Returns the bytes of a source of PEM certificates. Throws an error if the source contains no certificate.
    package static func certificates(in source: CertificateSource) throws(InvalidTrust) -> Data {
      guard let data = try bytes(of: source) else {
        throw InvalidTrust("The certificate authority's file cannot be read; give the path of a PEM file.")
      }
      let count = data.withUnsafeBytes { errand_pem_count_certificates($0.baseAddress, $0.count) }
      if let fault = fault(of: source, certificates: Int(count)) { throw InvalidTrust(fault) }
      return data
    }

    /// The reason why a source of PEM certificates cannot be used. Nil if it can be used.
    package static func fault(of source: CertificateSource, certificates count: Int) -> String? {
      switch count {
      case 0: "The certificate authority (\(source)) holds no certificate; give certificates in PEM."
      case Int(errand_pem_no_memory): "No memory is available to read the certificate authority (\(source))."
      case Int(errand_pem_too_long):
        "The certificate authority (\(source)) is longer than 2 GiB; give fewer certificates."
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
