import Foundation

/// What of a certificate is looked at (RFC 5280 section 4.1), read from its bytes in DER (X.690 section 10).
struct CertificateParts: Equatable {
  private static let sequence: UInt8 = 0x30
  private static let version: UInt8 = 0xA0

  private let issuer: Data
  private let subject: Data
  /// The public key with its header, SubjectPublicKeyInfo: what pins are made of.
  let publicKey: Data

  /// Nil for what is no certificate.
  init?(der: Data) {
    var outside = DERElements(der)
    guard let certificate = outside.next(), certificate.tag == Self.sequence, outside.isAtEnd else { return nil }
    var inside = DERElements(certificate.content)
    guard let body = inside.next(), body.tag == Self.sequence else { return nil }
    var fields = DERElements(body.content)
    guard let first = fields.next() else { return nil }
    // A version stands before the serial number, or none.
    if first.tag == Self.version, fields.next() == nil { return nil }
    guard fields.next()?.tag == Self.sequence, let issuer = fields.next(), issuer.tag == Self.sequence,
      fields.next()?.tag == Self.sequence, let subject = fields.next(), subject.tag == Self.sequence,
      let publicKey = fields.next(), publicKey.tag == Self.sequence
    else { return nil }
    self.issuer = issuer.whole
    self.subject = subject.whole
    self.publicKey = publicKey.whole
  }

  /// Whether it vouches for itself, by its names.
  var isSelfIssued: Bool { issuer == subject }

  /// The certificates of a text in PEM (RFC 7468), in DER; nil where one of them cannot be read.
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

/// The elements of a piece of DER, one behind the other.
private struct DERElements {
  struct Element {
    let tag: UInt8
    let content: Data
    /// With its tag and length.
    let whole: Data
  }

  private var rest: Data

  init(_ data: Data) { rest = data }

  var isAtEnd: Bool { rest.isEmpty }

  /// The next one; nil at the end, and where its length says more than there is.
  mutating func next() -> Element? {
    let start = rest
    guard let tag = rest.popFirst(), let length = length(), length <= rest.count else { return nil }
    let content = rest.prefix(length)
    rest = rest.dropFirst(length)
    return Element(tag: tag, content: content, whole: start.prefix(start.count - rest.count))
  }

  /// One byte, or the number of those that follow. More than three are no certificate's.
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
