import Foundation

/// The digests in the header or trailer fields of a message (RFC 9530), as checksums of known algorithms.
///
/// - `Repr-Digest` covers the whole representation, in the content coding in which it is sent. This also applies to
///   status 206 and to a HEAD request.
/// - `Content-Digest` covers the content of this message. With status 206, the content is the part that is sent.
///
/// If a `Content-Encoding` is decoded on receipt, neither digest matches the decoded bytes. A field that is not a valid
/// dictionary, or that contains an invalid digest of a known algorithm, is ignored.
package struct DigestFields: Sendable {
  /// The digest of the preferred algorithm in `Repr-Digest`; nil if the field has no usable digest.
  package let representation: Checksum?
  /// The digest of the preferred algorithm in `Content-Digest`; nil if the field has no usable digest.
  package let content: Checksum?

  /// Reads the fields of a header or a trailer section.
  ///
  /// - Parameters:
  ///   - fields: The header or trailer fields.
  ///   - known: The algorithms to look for, the preferred algorithm first. Digests of other algorithms are skipped.
  package init(_ fields: HTTPFields, known: [DigestAlgorithm]) {
    representation = Self.read("Repr-Digest", fields, known)
    content = Self.read("Content-Digest", fields, known)
  }

  private static func read(_ name: HTTPFieldName, _ fields: HTTPFields, _ known: [DigestAlgorithm]) -> Checksum? {
    guard let members = try? StructuredField.dictionary(fields.values(of: name)) else { return nil }
    var preferred: Checksum?
    for algorithm in known {
      guard let member = members[algorithm.name] else { continue }
      guard case .bytes(let digest)? = member.item?.value, let checksum = try? Checksum(algorithm, digest) else {
        return nil
      }
      preferred = preferred ?? checksum
    }
    return preferred
  }
}
