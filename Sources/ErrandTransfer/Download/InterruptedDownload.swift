public import ErrandCore
import ErrandSupport
public import Foundation

/// A download that was begun and is not done: its part and its record lie in a folder.
public struct InterruptedDownload: Sendable, Hashable {
  /// The file that is wanted.
  public let file: URL
  /// What was asked for: the first URL, or the name that the request gave by ``ErrandCore/Download/resource``. It may
  /// hold a secret such as a signature.
  public let resource: String
  /// The bytes that are there and need not be fetched again.
  public let bytes: Int64
  /// The length of the whole; nil where the server has not said.
  public let total: Int64?
  /// When bytes were last kept.
  public let updated: Date
  /// Whether it can be gone on with, should the server still have this version. If not, it starts over.
  public let isResumable: Bool
  private let checksum: RecordedChecksum?
  private let choices: RecordedChoices?

  /// The interrupted downloads in a folder, in the order of their names. One that is under way is listed, too.
  /// - Throws: ``ErrandCore/APIError`` of stage `transfer` where the folder cannot be read.
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

  /// A request that goes on with it, for a download that was asked for by its URL without further fields; with another
  /// credential or other fields it starts over. The file is held against the checksum that was asked for, if one was.
  /// ``ErrandCore/Download/permissions``, ``ErrandCore/Download/replaces``, ``ErrandCore/Download/maximumBytes`` and
  /// whether the server names the file are as they were; everything else is as ``ErrandCore/Download/to(_:)`` has it.
  /// - Parameter algorithms: Where the checksum's algorithm is looked for; `.standard` of the product `ErrandChecksum`.
  /// - Throws: ``ErrandCore/APIError`` of stage `build`, with the code ``ErrandCore/APIError/Code/invalidURL`` where
  ///   the download has a name by ``ErrandCore/Download/resource`` in place of a URL, and with
  ///   ``ErrandCore/APIError/Code/invalidChecksum`` where the checksum is by none of the algorithms.
  public func request(checkedBy algorithms: [DigestAlgorithm] = []) throws(APIError) -> FileDownload {
    guard let url = try? HTTPURL(resource) else {
      throw APIError(
        .build, .invalidURL,
        "The download of “\(file.lastPathComponent)” was begun by a name (`resource`); make its request anew, with a "
          + "URL.")
    }
    var download = Download.goingOn(with: file, from: url, choices)
    if let checksum {
      guard let algorithm = algorithms.first(where: { $0.name == checksum.algorithm }) else {
        throw APIError(
          .build, .invalidChecksum,
          "The download of “\(file.lastPathComponent)” was begun with a \(checksum.algorithm) checksum; name the "
            + "algorithm by `request(checkedBy:)`.")
      }
      download.checksum = try Checksum(algorithm, checksum.hex)
    }
    return FileDownload(resource, download)
  }

  /// Removes the part and its record.
  /// - Throws: ``ErrandCore/APIError`` of stage `transfer`, with the code ``ErrandCore/APIError/Code/busy`` while the
  ///   download is under way.
  public func remove() async throws(APIError) { try await Self.removePart(of: file.path(percentEncoded: false)) }

  static func removePart(of target: String) async throws(APIError) {
    do {
      try await DiskLane().value { try PartFile.open(target: target).abandon() }
    } catch {
      throw APIError.transfer(error) as? APIError ?? APIError(.transfer, .file, "\(error)", cause: error)
    }
  }

  /// Removes what a request has left.
  static func removePart<R: APIRequest>(of request: R, _ client: APIClient) async throws(APIError) {
    guard let download = request.download else { return }
    let url = Locked<HTTPURL?>(nil)
    try await client.probing(request) { frozen, _ in url.withLock { $0 = frozen.url } }
    if let url = url.withLock({ $0 }) { try await removePart(of: try download.target(for: url)) }
  }
}

extension InterruptedDownload: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name of the file, its bytes and its resource, the values of a query masked.
  public var description: String {
    let length = total.map { " of \($0)" } ?? ""
    return "\(file.lastPathComponent): \(bytes)\(length) bytes of \(Redaction.url(resource))"
  }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// The children of a dump: the description alone.
  public var customMirror: Mirror { Mirror(self, children: ["download": description], displayStyle: .struct) }
}

/// A download that was begun in a folder and is not done.
package struct InterruptedPart: Sendable, Hashable {
  /// The file that is wanted.
  package let target: String
  /// What is known of the part.
  package let record: PartRecord

  /// The downloads in a folder that have a usable record and a part, in the order of their names. Whether one is under
  /// way is seen when its part is opened. What cannot be read is left out.
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
