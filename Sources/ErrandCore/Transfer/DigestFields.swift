import Foundation

/// The digests that a message's fields state (RFC 9530), read as checksums of the algorithms that are known.
///
/// `Repr-Digest` is over the whole representation, in the content coding it is sent in: with status 206 and with a HEAD
/// request, too, it speaks of the whole. `Content-Digest` is over the content of this one message: with 206 over the
/// part that is sent. Where a `Content-Encoding` is undone on the way, neither fits the bytes that come out.
package struct DigestFields: Sendable {
  /// What one of the fields says.
  package enum Reading: Sendable {
    /// There is no such field, or it names no algorithm that is known.
    case nothing
    /// The digests that it states, in the order in which the known algorithms were given; at least one.
    case checksums([Checksum])
    /// It is no dictionary of digests, and says nothing; with a sentence that says where it is wrong.
    case damaged(String)
  }

  /// What `Repr-Digest` says, about the whole representation.
  package let representation: Reading
  /// What `Content-Digest` says, about the content of this message.
  package let content: Reading

  /// Reads the fields of a header or a trailer section.
  ///
  /// - Parameters:
  ///   - fields: The fields.
  ///   - known: The algorithms to look for, the preferred first. Others are skipped.
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
    guard let digest = member else { throw .init("has a \(algorithm.name) that is no byte sequence") }
    guard let checksum = try? Checksum(algorithm, digest) else {
      throw .init("has a \(algorithm.name) of \(digest.count) bytes instead of \(algorithm.length)")
    }
    return checksum
  }
}

extension DigestFields.Reading {
  /// The digest of the preferred algorithm among those stated.
  package var checksum: Checksum? {
    if case .checksums(let checksums) = self { checksums.first } else { nil }
  }

  /// What is wrong with the field; nil where nothing is.
  package var damage: String? {
    if case .damaged(let reason) = self { reason } else { nil }
  }
}
