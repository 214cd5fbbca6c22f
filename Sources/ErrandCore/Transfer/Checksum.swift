public import Foundation

/// The checksum that the bytes of a download must have: an algorithm and the expected digest.
///
/// ```swift
/// let sum = try Checksum.sha256("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")  // ErrandChecksum
/// ```
public struct Checksum: Sendable, CustomStringConvertible {
  package let algorithm: DigestAlgorithm
  /// The digest that the downloaded bytes must have.
  package let expected: Data

  /// Makes a checksum from the bytes of a digest.
  ///
  /// - Throws: ``APIError`` with the code ``APIError/Code/invalidChecksum`` for a wrong length.
  public init(_ algorithm: DigestAlgorithm, _ digest: Data) throws(APIError) {
    guard digest.count == algorithm.length else {
      throw Self.refused(
        "A \(algorithm.name) digest has \(algorithm.length) bytes, but the given digest has \(digest.count).")
    }
    self.algorithm = algorithm
    expected = digest
  }

  /// Makes a checksum from a digest as text: hexadecimal in upper or lower case, or base64 with its padding (RFC 4648
  /// section 4).
  ///
  /// - Throws: ``APIError`` with the code ``APIError/Code/invalidChecksum`` for a wrong length and for invalid
  ///   characters.
  public init(_ algorithm: DigestAlgorithm, _ text: String) throws(APIError) {
    let hexLength = algorithm.length * 2
    let base64Length = (algorithm.length + 2) / 3 * 4
    let digest: Data?
    switch text.utf8.count {
    case hexLength: digest = Self.fromHex(text)
    case base64Length: digest = Self.fromBase64(text, count: algorithm.length)
    default:
      throw Self.refused(
        "A \(algorithm.name) checksum has \(hexLength) hexadecimal digits or \(base64Length) characters of base64; "
          + "the given text has \(text.utf8.count) bytes.")
    }
    guard let digest else {
      let form = text.utf8.count == hexLength ? "hexadecimal digits only" : "\(algorithm.length) bytes in base64"
      throw Self.refused("A \(algorithm.name) checksum in a text of \(text.utf8.count) bytes must be \(form).")
    }
    try self.init(algorithm, digest)
  }

  /// The digest in lower-case hexadecimal.
  package var hex: String { ASCII.hex(expected) }

  /// The algorithm and the digest, such as `sha-256:ba78…`.
  public var description: String { "\(algorithm.name):\(hex)" }

  /// Makes a new hash for the algorithm of this checksum.
  /// - Throws: The errors of ``DigestAlgorithm/makeHash()``.
  package func makeHash() throws -> any ChecksumHash { try algorithm.makeHash() }

  package func matches(_ digest: Data) -> Bool { digest == expected }

  private static func fromHex(_ text: String) -> Data? {
    var bytes = Data(capacity: text.utf8.count / 2)
    var high: UInt8?
    for character in text.utf8 {
      guard let value = ASCII.hexValue(character) else { return nil }
      if let half = high {
        bytes.append(half << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }

  /// Decodes base64, but only in its canonical form. Foundation ignores some bits of the last character, so an error in
  /// these bits would not be detected otherwise.
  private static func fromBase64(_ text: String, count: Int) -> Data? {
    Data(base64Encoded: text).flatMap { $0.count == count && $0.base64EncodedString() == text ? $0 : nil }
  }

  private static func refused(_ message: String) -> APIError { APIError(.build, .invalidChecksum, message) }
}

extension APIError.Code {
  /// The code of the error if a given checksum has a wrong length or invalid characters for its algorithm.
  public static let invalidChecksum = Self(rawValue: "invalidChecksum")
}

/// A digest algorithm: its name, the length of its digests, and the closure that makes a hash.
///
/// The target `ErrandChecksum` adds `DigestAlgorithm.sha256` and `.sha512`.
public struct DigestAlgorithm: Sendable {
  /// The name of the algorithm in lower case, as registered by RFC 9530 section 7.2, such as `sha-256`.
  public let name: String
  /// The length of a digest in bytes.
  public let length: Int
  private let make: @Sendable () throws -> any ChecksumHash

  /// Makes an algorithm that the library does not contain.
  ///
  /// - Parameters:
  ///   - name: The registered name.
  ///   - length: The length of a digest in bytes.
  ///   - makeHash: Makes a new hash, which has processed no bytes. Throws an error if there is not enough memory.
  public init(name: String, length: Int, makeHash: @escaping @Sendable () throws -> any ChecksumHash) {
    self.name = name
    self.length = length
    make = makeHash
  }

  /// Makes a new hash, which has processed no bytes.
  /// - Throws: The errors of the closure that makes the hash.
  package func makeHash() throws -> any ChecksumHash { try make() }
}

/// Computes one digest from bytes that arrive in pieces.
///
/// Calls of the functions never overlap, but they may come from different threads. Implement this protocol to add an
/// algorithm to ``DigestAlgorithm``. The target `ErrandChecksum` contains implementations for SHA-256 and SHA-512.
public protocol ChecksumHash: AnyObject, Sendable {
  /// Processes the next bytes. The memory is valid only during the call of this function. A piece may have any size.
  func update(_ bytes: UnsafeRawBufferPointer)
  /// Finishes the computation and returns the digest. This function is called once, as the last call. If the
  /// computation failed, return empty data, which matches no checksum.
  func finish() -> Data
}

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
