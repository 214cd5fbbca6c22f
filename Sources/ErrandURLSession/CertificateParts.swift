import Foundation

/// The parts of a certificate that the trust checks need (RFC 5280 section 4.1), parsed from DER (X.690 section 10).
struct CertificateParts: Equatable {
  private static let sequence: UInt8 = 0x30
  private static let version: UInt8 = 0xA0

  private let issuer: Data
  private let subject: Data
  /// The public key with its header (SubjectPublicKeyInfo). The hashes of pinned keys are computed from these bytes.
  let publicKey: Data

  /// Parses a certificate. Nil if the bytes are not a certificate.
  init?(der: Data) {
    var outside = DERElements(der)
    guard let certificate = outside.next(), certificate.tag == Self.sequence, outside.isAtEnd else { return nil }
    var inside = DERElements(certificate.content)
    guard let body = inside.next(), body.tag == Self.sequence else { return nil }
    var fields = DERElements(body.content)
    guard let first = fields.next() else { return nil }
    // If the certificate begins with a version, the next field is the serial number. Otherwise `first` is the serial
    // number.
    if first.tag == Self.version, fields.next() == nil { return nil }
    guard fields.next()?.tag == Self.sequence, let issuer = fields.next(), issuer.tag == Self.sequence,
      fields.next()?.tag == Self.sequence, let subject = fields.next(), subject.tag == Self.sequence,
      let publicKey = fields.next(), publicKey.tag == Self.sequence
    else { return nil }
    self.issuer = issuer.whole
    self.subject = subject.whole
    self.publicKey = publicKey.whole
  }

  var isSelfIssued: Bool { issuer == subject }

  /// The certificates of a PEM text (RFC 7468), in DER; nil if one of the certificates cannot be parsed.
  static func certificates(inPEM data: Data) -> [Data]? {
    var certificates: [Data] = []
    var lines: [Substring]?
    for line in String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline) {
      switch line.trimmingCharacters(in: .whitespaces) {
      case "-----BEGIN CERTIFICATE-----": lines = []
      case "-----END CERTIFICATE-----":
        guard let text = lines?.joined(), let der = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
          CertificateParts(der: der) != nil
        else { return nil }
        certificates.append(der)
        lines = nil
      default: lines?.append(line)
      }
    }
    return lines == nil ? certificates : nil
  }
}

/// Reads consecutive DER elements. Each element consists of a tag, a length and the content.
private struct DERElements {
  struct Element {
    let tag: UInt8
    let content: Data
    /// The bytes of the whole element, including its tag and length.
    let whole: Data
  }

  private var rest: Data

  init(_ data: Data) { rest = data }

  var isAtEnd: Bool { rest.isEmpty }

  /// Reads the next element. Nil at the end of the data, or if the element's length exceeds the remaining bytes.
  mutating func next() -> Element? {
    let start = rest
    guard let tag = rest.popFirst(), let length = length(), length <= rest.count else { return nil }
    let content = rest.prefix(length)
    rest = rest.dropFirst(length)
    return Element(tag: tag, content: content, whole: start.prefix(start.count - rest.count))
  }

  /// Reads the length of an element. A short length has one byte. For a longer length, the first byte contains the
  /// number of length bytes that follow. No certificate needs more than three length bytes.
  private mutating func length() -> Int? {
    guard let first = rest.popFirst() else { return nil }
    guard first & 0x80 != 0 else { return Int(first) }
    let count = Int(first & 0x7F)
    guard (1...3).contains(count), count <= rest.count else { return nil }
    let length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
    rest = rest.dropFirst(count)
    return length
  }
}
