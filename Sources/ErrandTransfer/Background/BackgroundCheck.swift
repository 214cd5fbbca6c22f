import ErrandCore
import Foundation

/// Judges the file that a background download brought, by its record alone.
struct BackgroundCheck {
  /// How much of a refused answer comes with its error, in bytes.
  static let refusedLimit = 1 << 20

  let record: BackgroundDownloadRecord
  let answer: BackgroundAnswer
  let algorithms: [DigestAlgorithm]

  /// All but the checksums, the length last.
  /// - Parameters:
  ///   - length: The length of the file in bytes.
  ///   - start: The first bytes of it, at most ``refusedLimit``.
  func judge(length: Int64, start: Data) throws(APIError) {
    guard let response = answer.response(start) else { throw .backgroundLost("its record is damaged", .download) }
    try record.judge(response)
    try answer.check(length: length, of: .download)
    if let total, total != length {
      throw APIError(
        .transfer, .resumeMismatch, "The file has \(length) bytes, and the server announced \(total).")
    }
  }

  /// What the whole must hash to: what the caller said, and what the server says of bytes that nobody has changed.
  func checksums() throws(APIError) -> [Checksum] {
    var wanted: [Checksum] = []
    if let recorded = record.checksum {
      wanted.append(try Checksum(try Self.algorithm(recorded.algorithm, in: algorithms), recorded.hex))
    }
    guard AnswerFacts.coding(of: answer.head.fields) == nil else { return wanted }
    var known: [DigestAlgorithm] = []
    for name in record.digests { known.append(try Self.algorithm(name, in: algorithms)) }
    let stated = DigestFields(answer.head.fields, known: known)
    // With 206 it is over the part that came last.
    let content = answer.head.status == 206 ? nil : stated.content.checksum
    return wanted + [stated.representation.checksum, content].compactMap { $0 }
  }

  /// Holds what came against one of them.
  static func hold(_ digest: Data, against checksum: Checksum) throws(APIError) {
    if checksum.matches(digest) { return }
    let name = checksum.algorithm.name
    let found = (try? Checksum(checksum.algorithm, digest))?.hex ?? "unknown"
    throw APIError(
      .transfer, .checksumMismatch,
      "The \(name) of what came is \(found) and should be \(checksum.hex); the file was deleted.")
  }

  /// An algorithm by its name, which is all that a record has of it.
  static func algorithm(_ name: String, in known: [DigestAlgorithm]) throws(APIError) -> DigestAlgorithm {
    if let algorithm = known.first(where: { $0.name == name }) { return algorithm }
    throw APIError(
      .build, .invalidChecksum,
      "The download is checked by \(name), which must be named when the background downloads are made (`checkedBy`).")
  }

  private var total: Int64? {
    guard answer.head.status == 206 else { return AnswerFacts(of: answer.head, now: 0).total }
    guard let text = answer.head.fields["Content-Range"], case .part(_, let total) = ContentRange(text) else {
      return nil
    }
    return total
  }
}
