import Foundation

/// The digests in the header or trailer fields of a message (RFC 9530), as checksums of known algorithms.
///
/// - `Repr-Digest` covers the whole representation, in the content coding in which it is sent. This also applies to
///   status 206 and to a HEAD request.
/// - `Content-Digest` covers the content of this message. With status 206, the content is the part that is sent.
///
/// If a `Content-Encoding` is decoded on receipt, neither digest matches the decoded bytes.
package struct DigestFields: Sendable {
  /// The result of reading the field `Repr-Digest` or `Content-Digest`.
  package enum Reading: Sendable {
    /// The field is absent, or it contains no digest of a known algorithm.
    case nothing
    /// The field contains these digests, in the order of the known algorithms. There is at least one digest.
    case checksums([Checksum])
    /// The field is not a valid dictionary of digests and is ignored. The text is a sentence that names the fault.
    case invalid(String)
  }

  /// The content of `Repr-Digest`: the digests of the whole representation.
  package let representation: Reading
  /// The content of `Content-Digest`: the digests of the content of this message.
  package let content: Reading

  /// Reads the fields of a header or a trailer section.
  ///
  /// - Parameters:
  ///   - fields: The header or trailer fields.
  ///   - known: The algorithms to look for, the preferred algorithm first. Digests of other algorithms are skipped.
  package init(_ fields: HTTPFields, known: [DigestAlgorithm]) {
    representation = Self.read("Repr-Digest", fields, known)
    content = Self.read("Content-Digest", fields, known)
  }

  private static func read(_ name: HTTPFieldName, _ fields: HTTPFields, _ known: [DigestAlgorithm]) -> Reading {
    do throws(StructuredField.ParseError) {
      let members = try StructuredField.dictionary(fields.values(of: name))
      var checksums: [Checksum] = []
      for algorithm in known {
        if let checksum = try checksum(algorithm, in: members) { checksums.append(checksum) }
      }
      return checksums.isEmpty ? .nothing : .checksums(checksums)
    } catch {
      return .invalid("The field \(name) is invalid: \(error.reason).")
    }
  }

  private static func checksum(
    _ algorithm: DigestAlgorithm, in members: [String: StructuredField.Member]
  ) throws(StructuredField.ParseError) -> Checksum? {
    guard let member = members[algorithm.name] else { return nil }
    guard case .bytes(let digest)? = member.item?.value else {
      throw .init("the \(algorithm.name) digest is not a byte sequence")
    }
    guard let checksum = try? Checksum(algorithm, digest) else {
      throw .init("the \(algorithm.name) digest has \(digest.count) bytes instead of \(algorithm.length)")
    }
    return checksum
  }
}

extension DigestFields.Reading {
  /// The digest of the preferred algorithm among the digests in the field; nil if the field contains no usable digest.
  package var checksum: Checksum? {
    if case .checksums(let checksums) = self { checksums.first } else { nil }
  }

  /// The sentence that names the fault of the field; nil if the field has no fault.
  package var fault: String? {
    if case .invalid(let reason) = self { reason } else { nil }
  }
}
