import ErrandCore
public import Foundation

/// Computes message authentication codes (HMAC, RFC 2104), which prove that a message comes from somebody who has the
/// key, and that it was not changed.
///
/// ```swift
/// let code = try MessageAuthentication.hmacSHA256(of: Data(text.utf8), key: key)
/// request.fields.append(HTTPField("X-Signature", code.base64EncodedString()))
/// ```
public enum MessageAuthentication {
  /// Computes the HMAC of a message with SHA-256.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - key: The secret key. It may have any length; 32 bytes are a good one.
  /// - Returns: The code, which has 32 bytes.
  /// - Throws: `APIError` with the code `unsupported` if libcrypto cannot compute the hash, for example because memory
  ///   is exhausted.
  public static func hmacSHA256(of message: Data, key: Data) throws -> Data {
    try code(of: message, key, .sha256, blockLength: 64)
  }

  /// Computes the HMAC of a message with SHA-512.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - key: The secret key. It may have any length; 64 bytes are a good one.
  /// - Returns: The code, which has 64 bytes.
  /// - Throws: `APIError` with the code `unsupported` if libcrypto cannot compute the hash, for example because memory
  ///   is exhausted.
  public static func hmacSHA512(of message: Data, key: Data) throws -> Data {
    try code(of: message, key, .sha512, blockLength: 128)
  }

  /// Computes the code as RFC 2104 section 2 defines it. `blockLength` is the number of bytes that the hash processes
  /// at a time.
  private static func code(
    of message: Data, _ key: Data, _ algorithm: DigestAlgorithm, blockLength: Int
  ) throws -> Data {
    var block = Array(try key.count > blockLength ? digest(of: [key], algorithm) : key)
    block += [UInt8](repeating: 0, count: blockLength - block.count)
    let inner = try digest(of: [Data(block.map { $0 ^ 0x36 }), message], algorithm)
    return try digest(of: [Data(block.map { $0 ^ 0x5C }), inner], algorithm)
  }

  private static func digest(of parts: [Data], _ algorithm: DigestAlgorithm) throws -> Data {
    let hash = try algorithm.makeHash()
    for part in parts { part.withUnsafeBytes { hash.update($0) } }
    let digest = hash.finish()
    guard digest.count == algorithm.length else {
      throw APIError(.transfer, .unsupported, "libcrypto could not compute \(algorithm.name). Update libcrypto.")
    }
    return digest
  }
}
