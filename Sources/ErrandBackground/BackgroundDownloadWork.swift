import ErrandCore
import ErrandSupport
import ErrandTransfer
import Foundation

/// Validates the files of finished downloads and moves them to their targets.
struct BackgroundDownloadWork: BackgroundWork {
  typealias Record = BackgroundDownloadState

  let algorithms: [DigestAlgorithm]
  let home: String

  func handle(_ wait: BackgroundWait<DownloadedFile>) -> BackgroundDownload { BackgroundDownload(wait) }

  func value(
    of record: Record, hasFile: Bool, in folder: Folder, noting note: (BackgroundPhase) throws -> Void
  ) throws -> DownloadedFile {
    let placed: BackgroundPhase.PlacedFile
    switch record.phase {
    case .arrived(let stored):
      placed = try check(record, stored, folder)
      try note(.placing(placed))
    case .placing(let known): placed = known
    case .running, .missed, .cancelling, .failed: throw APIError.backgroundLost("the saved state is damaged", .download)
    }
    let target = placed.target.path(home: home)
    if hasFile {
      try folder.placeFile(
        of: record.id, at: target, replacing: record.replaces, permissions: record.permissions)
    }
    return DownloadedFile(
      url: URL(filePath: target, directoryHint: .notDirectory), bytes: placed.bytes, fetchedBytes: placed.bytes,
      checkedBy: placed.checkedBy)
  }

  private func check(
    _ record: Record, _ stored: StoredResponse, _ folder: Folder
  ) throws -> BackgroundPhase.PlacedFile {
    let check = BackgroundCheck(record: record, stored: stored, algorithms: algorithms)
    let (bytes, checkedBy) = try folder.check(record.id, check)
    let named = record.download(home: home).target(saidBy: stored.head.fields)
    let target = named.map { RecordedPlace($0, home: home) } ?? record.target
    return .init(target: target, bytes: bytes, checkedBy: checkedBy)
  }

  /// Always returns false. The file of a failed download is removed at once, so the next launch of the app cannot find
  /// the error again.
  func isFoundAgain(_ error: APIError) -> Bool { false }

  func failure(_ error: APIError, of record: Record, in folder: Folder) -> APIError { error }
}

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
    let content = stored.head.status == 206 ? nil : stated.content
    return wanted + [stated.representation, content].compactMap(\.self)
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

/// A download that is ready to be handed over to the system: the request to send, and the values for the saved record
/// (``BackgroundDownloadState``).
struct BackgroundDownloadHandOver: Sendable {
  /// The request to send, after all interceptors of the client have changed it.
  let request: HTTPRequest
  let network: NetworkWish
  let download: Download
  /// A hash of the requested resource and of the account that requests it.
  let identity: String
  private let rules: BackgroundRules
  private let url: HTTPURL

  /// Runs a request through the client's interceptors without sending it.
  init<R: APIRequest>(_ request: R, by client: APIClient) async throws(APIError) {
    let made = try await client.handingOver(request) { prepared, context -> Result<Self, APIError>? in
      guard let download = context.plan.download, let frozen = context.frozenRequest else { return nil }
      let refusal = BackgroundDecision.refusal(of: download, prepared, context.plan.sending.redirects)
      if let refusal { return .failure(.backgroundRefused(refusal, .download)) }
      return .success(Self(prepared, frozen, download, context))
    }
    guard let made else {
      throw APIError(
        .build, .unsupported, "The request has no `download`; set it, because a background download needs a target.")
    }
    self = made
  }

  private init(_ prepared: HTTPRequest, _ frozen: HTTPRequest, _ download: Download, _ context: CallContext) {
    request = prepared
    network = context.plan.sending.network
    self.download = download
    let identity = RequestIdentity(of: frozen, context)
    var hash = StableHash()
    hash.add(identity.method)
    hash.add(identity.variant)
    if let resource = download.resource {
      hash.add(resource)
    } else {
      // The query may contain a secret signature, so it is added separately as a secret. The origin and the path are
      // not treated as secrets.
      hash.add("\(frozen.url.origin)\(frozen.url.path)")
      hash.add(secret: frozen.url.query ?? "")
    }
    self.identity = hash.text
    rules = BackgroundRules(of: frozen, context.plan)
    url = frozen.url
  }

  func record(id: String, tag: String?, home: String) throws(APIError) -> BackgroundDownloadState {
    BackgroundDownloadState(
      id: id, tag: tag, request: identity, target: RecordedPlace(try download.target(for: url), home: home),
      isNamedByServer: download.isNamedByServer, replaces: download.replaces, permissions: download.permissions,
      checksum: download.checksum?.recorded, digests: download.digests.map(\.name),
      statuses: rules.statuses, contentTypes: rules.contentTypes, isSecure: rules.isSecure)
  }
}

/// The saved state of a background download: the file `<id>.download` in the folder of ``BackgroundDownloads``. The
/// file contains one JSON object. It contains neither the URL nor the fields of the request, because they may hold
/// secrets. A hash distinguishes requests.
///
/// ```
/// {"digests":[],"format":1,"id":"5d0c…","isNamedByServer":false,"isSecure":true,"permissions":420,
///  "phase":{"running":{}},"replaces":true,"request":"6c62272e07bb014262b821756295c58d","statuses":[[200,299]],
///  "tag":"film-7","target":{"isBelowHome":true,"path":"Library/films/7.mp4"}}
/// ```
struct BackgroundDownloadState: BackgroundState, Hashable {
  static let kind = BackgroundKind.download
  static let currentFormat = 1

  private(set) var format = Self.currentFormat
  let id: String
  let tag: String?
  /// A hash of the requested resource and of the account. It distinguishes requests.
  let request: String
  /// The target path of the download. If the server chooses the file name, the last component of the path is
  /// provisional until the response arrives.
  let target: RecordedPlace
  let isNamedByServer: Bool
  let replaces: Bool
  let permissions: UInt16
  let checksum: RecordedChecksum?
  /// The names of the algorithms with which the server's digests are checked.
  let digests: [String]
  /// The accepted status codes. Each inner array contains the first and the last code of a range.
  let statuses: [[Int]]
  let contentTypes: [String]?
  /// Whether the response to the download must arrive over https.
  let isSecure: Bool
  var phase = BackgroundPhase.running

  /// The accepted status codes. A rule that accepts 200 accepts 206 too, because the system reports 206 if it resumed
  /// the download.
  var statusRule: StatusRule {
    let rule = StatusRule(recorded: statuses)
    return rule.accepts(200) ? rule.or([206]) : rule
  }

  /// Whether another download requests the same resource and stores it in the same way.
  func asksForSame(as other: BackgroundDownloadState) -> Bool {
    request == other.request && target == other.target && isNamedByServer == other.isNamedByServer
      && replaces == other.replaces && permissions == other.permissions && checksum == other.checksum
      && digests == other.digests && statuses == other.statuses && contentTypes == other.contentTypes
      && isSecure == other.isSecure
  }

  /// Makes a `Download` value with the saved target. The `Download` value can read the server's file name from response
  /// fields.
  func download(home: String) -> Download {
    let file = URL(filePath: target.path(home: home), directoryHint: .notDirectory)
    return isNamedByServer ? .into(file.deletingLastPathComponent(), named: .fromServer) : .to(file)
  }
}
