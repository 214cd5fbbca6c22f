import Errand
import ErrandChecksum

/// Reads checksums as tools print them: hexadecimal digits or base64.
enum ChecksumNotation {
  /// The SHA-256 that a file must have.
  static func sha256(_ text: String, of option: String) throws(UsageError) -> Checksum {
    try checksum(text, .sha256, option)
  }

  /// The SHA-512 that a file must have.
  static func sha512(_ text: String, of option: String) throws(UsageError) -> Checksum {
    try checksum(text, .sha512, option)
  }

  private static func checksum(
    _ text: String, _ algorithm: DigestAlgorithm, _ option: String
  ) throws(UsageError) -> Checksum {
    do throws(APIError) {
      return try Checksum(algorithm, text)
    } catch {
      throw UsageError("\(option): \(error.message)")
    }
  }
}
