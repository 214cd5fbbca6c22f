public import ErrandCore
import ErrandSupport
public import Foundation

/// A download that was started and is not complete. Its partial file and its metadata record are in a folder.
public struct InterruptedDownload: Sendable, Hashable {
  /// The target of the download. The file is there only after the download is complete. If the server chooses the file
  /// name, the name of this file is provisional.
  public let file: URL
  /// The URL of the first request, or the name that the request set in ``ErrandCore/Download/resource``. It may contain
  /// a secret, such as a signature.
  public let resource: String
  /// The number of bytes that are already on the disk and need not be fetched again.
  public let bytes: Int64
  /// The length of the whole file in bytes; nil if the server has not stated it.
  public let total: Int64?
  /// The time at which received bytes were last committed to disk.
  public let updated: Date
  /// Whether the download can be resumed. If the value is false, or if the server has another version of the file, the
  /// download starts over.
  public let isResumable: Bool
  private let method: String
  private let checksum: RecordedChecksum?
  private let choices: RecordedChoices

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
    resource = part.metadata.request.url
    bytes = part.metadata.finished.count
    total = part.metadata.total
    updated = Date(timeIntervalSince1970: Double(part.metadata.updated) / 1_000)
    isResumable = part.metadata.isResumable
    method = part.metadata.request.method
    checksum = part.metadata.checksum
    choices = part.metadata.choices
  }

  /// A request that continues the download. It has the URL and no further fields. If the original request had other
  /// fields or another credential, the download starts over; otherwise it is resumed. The file is compared with the
  /// checksum of the original request, if there was one. ``ErrandCore/Download/permissions``,
  /// ``ErrandCore/Download/replaces``, ``ErrandCore/Download/maximumBytes`` and the choice whether the server names the
  /// file are those of the original request. All other settings have the defaults of ``ErrandCore/Download/to(_:)``.
  /// - Parameter algorithms: The known checksum algorithms, usually `.standard` of the product `ErrandChecksum`.
  /// - Throws: ``ErrandCore/APIError`` of stage `build`, with the code ``ErrandCore/APIError/Code/invalidURL`` if the
  ///   download has a ``ErrandCore/Download/resource`` name instead of a URL, with
  ///   ``ErrandCore/APIError/Code/unsupported`` if its method is not GET, because its body is not recorded, and with
  ///   ``ErrandCore/APIError/Code/invalidChecksum`` if none of the algorithms fits the checksum.
  public func request(checkedBy algorithms: [DigestAlgorithm] = []) throws(APIError) -> FileDownload {
    guard let url = try? HTTPURL(resource) else {
      throw APIError(
        .build, .invalidURL,
        "The download of “\(file.lastPathComponent)” was started with a `resource` name; create its request "
          + "yourself, with a URL.")
    }
    guard method == HTTPMethod.get.rawValue else {
      throw APIError(
        .build, .unsupported,
        "The download of “\(file.lastPathComponent)” was started with the method \(method), and its body is not "
          + "recorded; create its request yourself.")
    }
    var download = Download.continuing(file, from: url, choices)
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

  /// Removes the partial file and its metadata record.
  /// - Throws: ``ErrandCore/APIError`` of stage `transfer`, with the code ``ErrandCore/APIError/Code/busy`` while the
  ///   download is in progress.
  public func remove() async throws(APIError) {
    try await Self.removePart(of: file.path(percentEncoded: false)) { _ in true }
  }

  /// Removes the partial file of a target if it has no metadata record, or if `isOwn` returns true for the identity of
  /// the request in its record.
  private static func removePart(
    of target: String, if isOwn: @escaping @Sendable (RequestIdentity) -> Bool
  ) async throws(APIError) {
    do {
      try await DiskQueue().value {
        let part = try PartFile.open(target: target)
        if part.metadata.map({ isOwn($0.request) }) ?? true { try part.abandon() } else { part.close() }
      }
    } catch {
      throw APIError.transfer(error) as? APIError ?? APIError(.transfer, .file, "\(error)", cause: error)
    }
  }

  /// Removes the partial files and the metadata records of a request. A partial file of another request is kept.
  ///
  /// - Parameters:
  ///   - options: The options with which the request is sent.
  ///   - sent: The target and the identity of the request in each earlier call. If there is none, those of a call that
  ///     starts now are used. Otherwise they are not: the present identity may be that of another account.
  static func removePart<R: APIRequest>(
    of request: R, _ client: APIClient, _ options: CallOptions, sent: Set<SentDownload>
  ) async throws(APIError) {
    let found = Locked(sent)
    if sent.isEmpty {
      var present = CallOptions(headers: options.headers)
      present.requiredAccount = options.requiredAccount
      try await client.inspect(request, options: present) { request, context in
        if let sent = SentDownload(request, context) { found.withLock { _ = $0.insert(sent) } }
      }
    }
    for sent in found.withLock({ $0 }) { try await removePart(of: sent.target.text) { $0 == sent.identity } }
  }
}

extension SentDownload {
  /// Nil if the request is no download, or if its target cannot be determined.
  init?(_ request: HTTPRequest, _ context: CallContext) {
    guard let download = context.plan.download, let target = try? download.partTarget(for: request.url) else {
      return nil
    }
    let identity = RequestIdentity(of: request, context).naming(download.resource)
    self.init(target: target, method: identity.method, url: identity.url, variant: identity.variant)
  }

  var identity: RequestIdentity { RequestIdentity(method: method, url: url.text, variant: variant) }
}

extension InterruptedDownload: Masked {
  /// The file name, the number of bytes and the resource. The values in the query of a URL are masked.
  public var description: String {
    let length = total.map { " of \($0)" } ?? ""
    return "\(file.lastPathComponent): \(bytes)\(length) bytes of \(Redaction.url(resource))"
  }
}

/// An interrupted download in a folder: its target and its metadata record.
package struct InterruptedPart: Sendable, Hashable {
  /// The target of the download. The file is there only after the download is complete.
  package let target: String
  package let metadata: PartMetadata

  /// The downloads in a folder that have a usable metadata record and a partial file, sorted by name. Downloads in
  /// progress are included, although their partial files cannot be opened. Unreadable records are skipped.
  package static func all(in folder: String, files: any TransferFiles = SystemFiles()) throws -> [InterruptedPart] {
    // Names are compared byte by byte, as file systems do. Swift would treat canonically equivalent names as equal.
    // Swift may also combine the dot of the suffix with the character before it.
    let all = Set(try files.names(in: folder).map { ByteText($0) })
    let recorded = all.compactMap { targetName(ofMetadataFile: $0.text) }
    return recorded.sorted { $0.precedesByBytes($1) }.compactMap { name in
      let names = PartNames(folder.hasSuffix("/") ? folder + name : folder + "/" + name)
      guard all.contains(ByteText(name + PartNames.partSuffix)),
        let metadata = try? PartFile.readMetadata(names, files).metadata
      else { return nil }
      return InterruptedPart(target: names.target, metadata: metadata)
    }
  }

  /// The file name of the target to which a metadata record belongs. `name` is the file name of the record. Nil if
  /// `name` does not have the suffix of a metadata record.
  private static func targetName(ofMetadataFile name: String) -> String? {
    let (bytes, suffix) = (name.utf8, PartNames.metadataSuffix.utf8)
    guard bytes.count > suffix.count, bytes.suffix(suffix.count).elementsEqual(suffix) else { return nil }
    return String(Substring(bytes.dropLast(suffix.count)))
  }
}
