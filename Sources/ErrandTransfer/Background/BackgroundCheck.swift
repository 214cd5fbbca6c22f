import ErrandCore
import Foundation

/// Validates the file of a background download. It uses only the record, because the app may have been relaunched since
/// the request was built.
struct BackgroundCheck {
  /// The maximum number of bytes of a rejected response body that the error contains.
  static let refusedLimit = 1 << 20

  let record: BackgroundDownloadRecord
  let answer: BackgroundAnswer
  let algorithms: [DigestAlgorithm]

  /// Checks everything except the checksums; the length comes last.
  /// - Parameters:
  ///   - length: The length of the file in bytes.
  ///   - start: The first bytes of the file, at most ``refusedLimit``.
  func judge(length: Int64, start: Data) throws(APIError) {
    guard let response = answer.response(start) else { throw .backgroundLost("its record is damaged", .download) }
    try record.judge(response)
    try answer.check(length: length, of: .download)
    if let total, total != length {
      throw APIError(
        .transfer, .resumeMismatch, "The file has \(length) bytes, but the server announced \(total).")
    }
  }

  /// The checksums that the whole file must match: the caller's, and the server's if no content coding changed the
  /// bytes.
  func checksums() throws(APIError) -> [Checksum] {
    var wanted: [Checksum] = []
    if let recorded = record.checksum {
      wanted.append(try Checksum(try Self.algorithm(recorded.algorithm, in: algorithms), recorded.hex))
    }
    guard AnswerFacts.coding(of: answer.head.fields) == nil else { return wanted }
    var known: [DigestAlgorithm] = []
    for name in record.digests { known.append(try Self.algorithm(name, in: algorithms)) }
    let stated = DigestFields(answer.head.fields, known: known)
    // With status 206, Content-Digest covers only the last range, not the whole file.
    let content = answer.head.status == 206 ? nil : stated.content.checksum
    return wanted + [stated.representation.checksum, content].compactMap { $0 }
  }

  /// Compares the digest of the file with one checksum.
  static func hold(_ digest: Data, against checksum: Checksum) throws(APIError) {
    if checksum.matches(digest) { return }
    let name = checksum.algorithm.name
    let found = (try? Checksum(checksum.algorithm, digest))?.hex ?? "unknown"
    throw APIError(
      .transfer, .checksumMismatch,
      "The \(name) of the downloaded file is \(found), but \(checksum.hex) was expected; the file was deleted.")
  }

  /// Finds an algorithm by its name, because the record stores only the name.
  static func algorithm(_ name: String, in known: [DigestAlgorithm]) throws(APIError) -> DigestAlgorithm {
    if let algorithm = known.first(where: { $0.name == name }) { return algorithm }
    throw APIError(
      .build, .invalidChecksum,
      "The download needs the digest algorithm \(name); pass it in `checkedBy` when you create `BackgroundDownloads`.")
  }

  private var total: Int64? {
    guard answer.head.status == 206 else { return AnswerFacts(of: answer.head, now: 0).total }
    guard let text = answer.head.fields["Content-Range"], case .part(_, let total) = ContentRange(text) else {
      return nil
    }
    return total
  }
}
