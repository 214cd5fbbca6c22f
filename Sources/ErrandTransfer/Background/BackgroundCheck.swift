import ErrandCore
import Foundation

/// Validates the file of a background download. All rules come from the saved record, because the app may have been
/// relaunched since it built the request.
struct BackgroundCheck {
  /// The maximum length in bytes of a response body that an error contains. The body of a rejected response is
  /// truncated to this length.
  static let refusedLimit = 1 << 20

  let record: BackgroundDownloadState
  let stored: StoredResponse
  let algorithms: [DigestAlgorithm]

  /// Checks the scheme, the status and the content type of the response, and then the length of the file. This method
  /// does not compare the checksums; ``checksums()`` returns them.
  /// - Parameters:
  ///   - length: The length of the file in bytes.
  ///   - start: The first bytes of the file, at most ``refusedLimit``.
  func judge(length: Int64, start: Data) throws(APIError) {
    guard let response = stored.response(start) else { throw .backgroundLost("the saved state is damaged", .download) }
    try record.judge(response)
    try stored.check(length: length, of: .download)
    if let total, total != length { throw .backgroundLength(length, insteadOf: total, .download) }
  }

  /// The checksums that the whole file must match: the checksum that the caller requires, and the checksums that the
  /// server states. The server's checksums are left out if a content coding changed the bytes.
  func checksums() throws(APIError) -> [Checksum] {
    var wanted: [Checksum] = []
    if let recorded = record.checksum {
      wanted.append(try Checksum(try Self.algorithm(recorded.algorithm, in: algorithms), recorded.hex))
    }
    guard ResponseProperties.coding(of: stored.head.fields) == nil else { return wanted }
    var known: [DigestAlgorithm] = []
    for name in record.digests { known.append(try Self.algorithm(name, in: algorithms)) }
    let stated = DigestFields(stored.head.fields, known: known)
    // If the status is 206, `Content-Digest` covers only the range in the last response, not the whole file.
    let content = stored.head.status == 206 ? nil : stated.content.checksum
    return wanted + [stated.representation.checksum, content].compactMap { $0 }
  }

  /// Compares the digest of the file with an expected checksum. Throws if they differ.
  static func hold(_ digest: Data, against checksum: Checksum) throws(APIError) {
    if checksum.matches(digest) { return }
    let name = checksum.algorithm.name
    let found = (try? Checksum(checksum.algorithm, digest))?.hex ?? "unknown"
    throw APIError(
      .transfer, .checksumMismatch,
      "The \(name) of the downloaded file is \(found), but \(checksum.hex) was expected; the file was deleted.")
  }

  /// Finds a digest algorithm by its name, because the saved record contains only the name. Throws if no known
  /// algorithm has the name.
  static func algorithm(_ name: String, in known: [DigestAlgorithm]) throws(APIError) -> DigestAlgorithm {
    if let algorithm = known.first(where: { $0.name == name }) { return algorithm }
    throw APIError(
      .build, .invalidChecksum,
      "The download needs the digest algorithm \(name); pass it in `checkedBy` when you create `BackgroundDownloads`.")
  }

  private var total: Int64? {
    guard stored.head.status == 206 else { return ResponseProperties(of: stored.head, now: 0).total }
    guard let text = stored.head.fields["Content-Range"], case .part(_, let total) = ContentRange(text) else {
      return nil
    }
    return total
  }
}
