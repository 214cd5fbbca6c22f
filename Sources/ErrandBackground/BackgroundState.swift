import ErrandCore
import ErrandJSON
import ErrandSupport
import ErrandTransfer
import Foundation

/// The saved state of a background transfer: one JSON object in the file `<id>.download` or `<id>.upload`. It contains
/// neither the URL nor the fields of the request, because they may hold secrets.
protocol BackgroundState: Sendable, Codable {
  /// Whether records of this type belong to downloads or to uploads.
  static var kind: BackgroundKind { get }
  /// The number of the record format that this version of the library writes and reads. Records of any other format are
  /// ignored.
  static var currentFormat: Int { get }

  var format: Int { get }
  var id: String { get }
  var tag: String? { get }
  /// The status codes that the response to the transfer may have.
  var statusRule: StatusRule { get }
  var contentTypes: [String]? { get }
  /// Whether the response to the transfer must arrive over https.
  var isSecure: Bool { get }
  var phase: BackgroundPhase { get set }
}

extension BackgroundState {
  /// The JSON bytes that are written into the record file.
  func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Reads the bytes of a record file; nil if they are not a record of this format.
  static func read(_ bytes: Data) -> Self? {
    guard let record = try? JSONDecoder().decodeChecked(Self.self, from: bytes), record.format == currentFormat else {
      return nil
    }
    return record
  }

  /// Checks the scheme, the status and the content type of a response, in this order. So the error for an error page
  /// names the status and not the content type.
  func judge(_ response: HTTPResponse) throws(APIError) {
    if isSecure, response.url.scheme != .https {
      throw .backgroundDowngrade(Self.kind)
    }
    try Validating.checkStatus(of: response, by: statusRule)
    try Validating.checkContentType(of: response, among: contentTypes)
  }
}

extension StatusRule {
  /// The accepted status codes in the form that a record stores. Each inner array contains the first and the last code
  /// of a range.
  var recorded: [[Int]] { ranges.map { [$0.lowerBound, $0.upperBound] } }

  /// Creates the rule from the status codes in a record. Inner arrays that are not a valid range are skipped.
  init(recorded pairs: [[Int]]) {
    self.init(
      ranges: pairs.compactMap { pair in
        guard pair.count == 2, let first = pair.first, let last = pair.last, first <= last else { return nil }
        return first...last
      })
  }
}

/// The phase of a background transfer, as the saved record of the transfer contains it.
enum BackgroundPhase: Sendable, Hashable, Codable {
  /// The system is performing the transfer.
  case running
  /// At the last launch, the system did not list the transfer. The system may still report the end of the transfer.
  case missed
  /// The app cancelled the transfer, and the system has not reported the end of the transfer yet.
  case cancelling
  /// The response file of the transfer has arrived and must be checked.
  case arrived(StoredResponse)
  /// The file of a download was checked and must be moved to its target path. Uploads never have this phase.
  case placing(PlacedFile)
  /// The transfer failed, and the failure has not been reported to the app yet.
  case failed(BackgroundFault)

  /// A downloaded file that was checked, and the target path to which the file must be moved.
  struct PlacedFile: Sendable, Hashable, Codable {
    let target: RecordedPlace
    let bytes: Int64
    let checkedBy: [String]
  }
}

/// The error of a transfer in the form that the saved record contains. If this process ends before the error is
/// reported, the next launch of the app reports it.
struct BackgroundFault: Sendable, Hashable, Codable {
  private let stage: APIError.Stage
  private let code: APIError.Code
  private let message: String

  init(_ error: APIError) {
    stage = error.stage
    code = error.code
    message = error.message
  }

  /// The error that the saved record contains. It has a message, but no HTTP response.
  var error: APIError { APIError(stage, code, message) }
}

/// The rules for validating the response of a background transfer, in the form that the saved record stores.
struct BackgroundRules: Sendable {
  let statuses: [[Int]]
  let contentTypes: [String]?
  let isSecure: Bool

  init(of frozen: HTTPRequest, _ plan: CallPlan) {
    statuses = plan.rules.status.recorded
    contentTypes = plan.rules.contentTypes
    isSecure = frozen.url.scheme == .https && !plan.sending.redirects.allowsDowngrade
  }
}

extension APIClient {
  /// Runs a request through the interceptors of the client. Then calls `make` with the prepared request, which is not
  /// sent. Returns the value that `make` made, or nil if `make` returned nil. Throws if `make` refused the request.
  func handingOver<R: APIRequest, HandOver: Sendable>(
    _ request: R, _ make: @escaping @Sendable (HTTPRequest, CallContext) -> Result<HandOver, APIError>?
  ) async throws(APIError) -> HandOver? {
    let made = Locked<Result<HandOver, APIError>?>(nil)
    try await prepare(request) { prepared, context in
      let result = make(prepared, context)
      made.withLock { $0 = result }
    }
    return try made.withLock({ $0 })?.get()
  }
}

/// The part of a response that the saved record of a background transfer contains: the status, the fields that are
/// needed later, and the origin of the URL. Cookies and all other fields are not stored. The record is removed after
/// the app has been notified of the end of the transfer.
struct StoredResponse: Sendable, Hashable, Codable {
  private let status: Int
  private let fields: [String: [String]]
  private let origin: String
  /// The length in bytes that the response file had when it arrived.
  private let bytes: Int64

  /// The response fields that the library needs to validate the file and to choose its name.
  private static let kept: [HTTPFieldName] = [
    .contentType, .contentLength, .contentEncoding, "Content-Range", "Content-Disposition", "Content-Digest",
    "Repr-Digest", "Transfer-Encoding",
  ]

  /// Additional fields that an app may need from the response to an upload: the location of the new resource, its
  /// version, and the time after which to retry.
  private static let keptOfUploads: [HTTPFieldName] = [
    "Location", "Content-Location", "ETag", "Last-Modified", "Retry-After",
  ]

  init(_ head: ResponseHead, _ url: HTTPURL, to kind: BackgroundKind, bytes: Int64) {
    self.bytes = bytes
    let kept = kind == .upload ? Self.kept + Self.keptOfUploads : Self.kept
    status = head.status
    origin = "\(url.origin)/"
    fields = Dictionary(
      kept.filter { head.fields.contains($0) }.map { ($0.rawValue, head.fields.values(of: $0)) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The headers of the response with only those fields that the record stores.
  var head: ResponseHead {
    let fields = fields.sorted { $0.key < $1.key }.flatMap { name, values in
      values.map { HTTPField(HTTPFieldName(name), $0) }
    }
    return ResponseHead(status: status, fields: HTTPFields(fields))
  }

  /// Throws if the length of the response file has changed since the file arrived.
  func check(length: Int64, of kind: BackgroundKind) throws(APIError) {
    if bytes != length { throw .backgroundLength(length, insteadOf: bytes, kind) }
  }

  /// The response with the given bytes as its body. Nil if the stored origin is not a valid URL.
  func response(_ body: Data) -> HTTPResponse? {
    (try? HTTPURL(origin)).map { HTTPResponse(head: head, body: body, url: $0) }
  }
}

/// A file path in the saved record of a background transfer. A path below the home folder is stored relative to the
/// home folder, because the system gives an app another home folder with each update.
struct RecordedPlace: Sendable, Hashable, Codable {
  private let path: String
  private let isBelowHome: Bool

  #if canImport(Darwin)
    static let linksVar = true
  #else
    static let linksVar = false
  #endif

  /// - Parameter linksVar: Whether `/var` is a link to `/private/var`, as on Apple platforms. Then both are names of
  ///   the same folder. Functions of the system return either of them for the home folder.
  init(_ path: String, home: String, linksVar: Bool = Self.linksVar) {
    let home = Self.folder(home)
    let spellings = linksVar ? Self.spellings(of: home) : [home]
    // Compares bytes, because a slash and a combining mark after it are one `Character`.
    let found = spellings.first { $0 != "/" && path.utf8.starts(with: $0.utf8) }
    isBelowHome = found != nil
    self.path = found.map { String(Substring(path.utf8.dropFirst($0.utf8.count))) } ?? path
  }

  private static func spellings(of folder: String) -> [String] {
    if folder.utf8.starts(with: "/var/".utf8) { return [folder, "/private" + folder] }
    guard folder.utf8.starts(with: "/private/var/".utf8) else { return [folder] }
    return [folder, String(Substring(folder.utf8.dropFirst("/private".utf8.count)))]
  }

  /// The full path of the file, which starts with the present home folder if the file is below the home folder.
  func path(home: String) -> String { isBelowHome ? Self.folder(home) + path : path }

  private static func folder(_ path: String) -> String { path.hasSuffix("/") ? path : path + "/" }
}

/// The operations of a background transfer that differ between downloads and uploads. ``BackgroundEngine`` contains the
/// common operations.
protocol BackgroundWork: Sendable {
  associatedtype Record: BackgroundState
  associatedtype Handle: BackgroundHandle
  typealias Folder = BackgroundFolder<Record>

  /// Creates the handle with which the app controls a transfer.
  func handle(_ wait: BackgroundWait<Handle.Value>) -> Handle

  /// Converts a response that has arrived to the value that is reported to the app.
  /// - Parameters:
  ///   - hasFile: Whether the response file is in the folder. If it is not, the file is already at its target.
  ///   - note: Saves a new phase in the record of the transfer.
  func value(
    of record: Record, hasFile: Bool, in folder: Folder, noting note: (BackgroundPhase) throws -> Void
  ) throws -> Handle.Value

  /// Whether the next launch of the app would find the same error, if it validated the saved record and the response
  /// file again.
  func isFoundAgain(_ error: APIError) -> Bool

  /// The error to report to the app if the system could not perform the transfer.
  func failure(_ error: APIError, of record: Record, in folder: Folder) -> APIError
}

/// The handle with which the app controls a background transfer.
protocol BackgroundHandle: AnyObject, Sendable {
  associatedtype Value: Sendable
  var wait: BackgroundWait<Value> { get }
}

/// The result and the progress of one background transfer, for all callers that wait for its end.
final class BackgroundWait<Value: Sendable>: Sendable {
  let id: String
  let tag: String?
  let progress: AsyncStream<TransferProgress>
  private let kind: BackgroundKind
  private let feed: ProgressFeed
  private let onCancel: @Sendable () -> Void
  private let ending = TransferEnd<Value>()

  init<Record: BackgroundState>(_ record: Record, cancel: @escaping @Sendable () -> Void) {
    id = record.id
    tag = record.tag
    kind = Record.kind
    let feed = ProgressFeed()
    self.feed = feed
    progress = feed.reports
    onCancel = cancel
  }

  func cancel() { onCancel() }

  func value() async throws(APIError) -> Value { try await ending.value(of: kind.rawValue) }

  /// Reports progress. A smaller number of bytes than in the last report means that the system started the transfer
  /// again.
  func report(bytes: Int64, total: Int64?) {
    feed.yield(TransferProgress(kind.direction, bytes: bytes, total: total))
  }

  func finish(_ result: Result<Value, APIError>) {
    feed.finish()
    ending.set(result)
  }
}
