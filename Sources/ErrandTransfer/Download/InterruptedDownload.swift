public import ErrandCore
import ErrandSupport
public import Foundation

/// A download that was started and is not complete. Its partial file and its record are in a folder.
public struct InterruptedDownload: Sendable, Hashable {
  /// The file that the download was started for.
  public let file: URL
  /// The first URL, or the name that the request set in ``ErrandCore/Download/resource``. It may contain a secret, such
  /// as a signature.
  public let resource: String
  /// The number of bytes that are already on the disk and need not be fetched again.
  public let bytes: Int64
  /// The length of the whole file in bytes; nil if the server has not stated it.
  public let total: Int64?
  /// When bytes were last committed.
  public let updated: Date
  /// Whether the download can be resumed, provided that the server still has this version. Otherwise the download
  /// starts over.
  public let isResumable: Bool
  private let checksum: RecordedChecksum?
  private let choices: RecordedChoices?

  /// The interrupted downloads in a folder, sorted by name. Downloads in progress are included.
  /// - Throws: ``ErrandCore/APIError`` of stage `transfer` if the folder cannot be read.
  public static func all(in folder: URL) throws(APIError) -> [InterruptedDownload] {
    do {
      return try InterruptedPart.all(in: folder.path(percentEncoded: false)).map(InterruptedDownload.init)
    } catch {
      throw APIError.transfer(error) as? APIError ?? APIError(.transfer, .file, "\(error)", cause: error)
    }
  }

  private init(_ part: InterruptedPart) {
    file = URL(filePath: part.target, directoryHint: .notDirectory)
    resource = part.record.request.url
    bytes = part.record.finished.count
    total = part.record.total
    updated = Date(timeIntervalSince1970: Double(part.record.updated) / 1_000)
    isResumable = part.record.isResumable
    checksum = part.record.checksum
    choices = part.record.choices
  }

  /// A request that continues the download. It has the URL and no further fields. So it resumes a download that was
  /// started in this way; if the download had other fields or another credential, it starts over. The file is compared
  /// with the checksum of the original request, if there was one. ``ErrandCore/Download/permissions``,
  /// ``ErrandCore/Download/replaces``, ``ErrandCore/Download/maximumBytes`` and whether the server names the file stay
  /// as they were; everything else has the defaults of ``ErrandCore/Download/to(_:)``.
  /// - Parameter algorithms: The known checksum algorithms: `.standard` of the product `ErrandChecksum`.
  /// - Throws: ``ErrandCore/APIError`` of stage `build`, with the code ``ErrandCore/APIError/Code/invalidURL`` if the
  ///   download has a ``ErrandCore/Download/resource`` name instead of a URL, and with
  ///   ``ErrandCore/APIError/Code/invalidChecksum`` if none of the algorithms fits the checksum.
  public func request(checkedBy algorithms: [DigestAlgorithm] = []) throws(APIError) -> FileDownload {
    guard let url = try? HTTPURL(resource) else {
      throw APIError(
        .build, .invalidURL,
        "The download of “\(file.lastPathComponent)” was started with a `resource` name; create its request "
          + "yourself, with a URL.")
    }
    var download = Download.goingOn(with: file, from: url, choices)
    if let checksum {
      guard let algorithm = algorithms.first(where: { $0.name == checksum.algorithm }) else {
        throw APIError(
          .build, .invalidChecksum,
          "The download of “\(file.lastPathComponent)” requires a \(checksum.algorithm) checksum; pass the "
            + "algorithm to `request(checkedBy:)`.")
      }
      download.checksum = try Checksum(algorithm, checksum.hex)
    }
    return FileDownload(resource, download)
  }

  /// Removes the partial file and its record.
  /// - Throws: ``ErrandCore/APIError`` of stage `transfer`, with the code ``ErrandCore/APIError/Code/busy`` while the
  ///   download is in progress.
  public func remove() async throws(APIError) { try await Self.removePart(of: file.path(percentEncoded: false)) }

  static func removePart(of target: String) async throws(APIError) {
    do {
      try await DiskQueue().value { try PartFile.open(target: target).abandon() }
    } catch {
      throw APIError.transfer(error) as? APIError ?? APIError(.transfer, .file, "\(error)", cause: error)
    }
  }

  /// Removes the partial file and the record of a request.
  static func removePart<R: APIRequest>(of request: R, _ client: APIClient) async throws(APIError) {
    guard let download = request.download else { return }
    let url = Locked<HTTPURL?>(nil)
    try await client.probing(request) { frozen, _ in url.withLock { $0 = frozen.url } }
    if let url = url.withLock({ $0 }) { try await removePart(of: try download.target(for: url)) }
  }
}

extension InterruptedDownload: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The file name, the number of bytes and the resource; the values of a query are masked.
  public var description: String {
    let length = total.map { " of \($0)" } ?? ""
    return "\(file.lastPathComponent): \(bytes)\(length) bytes of \(Redaction.url(resource))"
  }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// The children of a dump: the description alone.
  public var customMirror: Mirror { Mirror(self, children: ["download": description], displayStyle: .struct) }
}

/// A download that was started in a folder and is not complete.
package struct InterruptedPart: Sendable, Hashable {
  /// The file that the download was started for.
  package let target: String
  /// The record of the partial file.
  package let record: PartRecord

  /// The downloads in a folder that have a usable record and a partial file, sorted by name. Downloads in progress are
  /// included: opening their partial file fails. Unreadable records are skipped.
  package static func all(in folder: String, files: any TransferFiles = SystemFiles()) throws -> [InterruptedPart] {
    let suffix = PartNames.recordSuffix
    let all = Set(try files.names(in: folder))
    return all.filter { $0.utf8.count > suffix.utf8.count && $0.hasSuffix(suffix) }.sorted().compactMap { name in
      let name = String(name.dropLast(suffix.count))
      let names = PartNames(folder.hasSuffix("/") ? folder + name : folder + "/" + name)
      guard all.contains(name + PartNames.partSuffix),
        case .success(let record)? = try? PartFile.readRecord(names, files)
      else { return nil }
      return InterruptedPart(target: names.target, record: record)
    }
  }
}
