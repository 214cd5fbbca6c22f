import Foundation

/// The digests in the fields of a message (RFC 9530), as checksums of known algorithms.
///
/// - `Repr-Digest` covers the whole representation, in the content coding in which it is sent. This also applies to
///   status 206 and to a HEAD request.
/// - `Content-Digest` covers the content of this message. With status 206 this is the part that is sent.
///
/// If a `Content-Encoding` is decoded on receipt, neither digest matches the decoded bytes.
package struct DigestFields: Sendable {
  /// The content of `Repr-Digest` or `Content-Digest`.
  package enum Reading: Sendable {
    /// The field is absent, or names no known algorithm.
    case nothing
    /// The digests in the field, in the order of the known algorithms; at least one.
    case checksums([Checksum])
    /// The field is not a valid dictionary of digests and is ignored. The text is a sentence that names the fault.
    case damaged(String)
  }

  /// The content of `Repr-Digest`, about the whole representation.
  package let representation: Reading
  /// The content of `Content-Digest`, about the content of this message.
  package let content: Reading

  /// Reads the fields of a header or a trailer section.
  ///
  /// - Parameters:
  ///   - fields: The header or trailer fields.
  ///   - known: The algorithms to look for, the preferred one first. Others are skipped.
  package init(_ fields: HTTPFields, known: [DigestAlgorithm]) {
    representation = Self.read("Repr-Digest", fields, known)
    content = Self.read("Content-Digest", fields, known)
  }

  private static func read(_ name: HTTPFieldName, _ fields: HTTPFields, _ known: [DigestAlgorithm]) -> Reading {
    let text = fields.values(of: name).joined(separator: ", ")
    do throws(DigestFieldReader.Damage) {
      var reader = DigestFieldReader(text)
      let members = try reader.members()
      var checksums: [Checksum] = []
      for algorithm in known {
        if let checksum = try checksum(algorithm, in: members) { checksums.append(checksum) }
      }
      return checksums.isEmpty ? .nothing : .checksums(checksums)
    } catch {
      return .damaged("\(name) \(error.reason).")
    }
  }

  private static func checksum(
    _ algorithm: DigestAlgorithm, in members: [String: Data?]
  ) throws(DigestFieldReader.Damage) -> Checksum? {
    guard let member = members[algorithm.name] else { return nil }
    guard let digest = member else { throw .init("has a \(algorithm.name) that is not a byte sequence") }
    guard let checksum = try? Checksum(algorithm, digest) else {
      throw .init("has a \(algorithm.name) of \(digest.count) bytes instead of \(algorithm.length)")
    }
    return checksum
  }
}

extension DigestFields.Reading {
  /// The digest of the preferred algorithm among those in the field.
  package var checksum: Checksum? {
    if case .checksums(let checksums) = self { checksums.first } else { nil }
  }

  /// The sentence that names the fault of the field; nil if the field has no fault.
  package var damage: String? {
    if case .damaged(let reason) = self { reason } else { nil }
  }
}
