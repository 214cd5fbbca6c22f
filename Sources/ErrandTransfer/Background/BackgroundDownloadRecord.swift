import ErrandCore
import Foundation

/// The saved state of a background download: the file `<id>.download` in the folder of ``BackgroundDownloads``, one
/// JSON object. It contains neither the URL nor the fields of the request, because they may hold secrets; a hash
/// distinguishes requests.
///
/// ```
/// {"digests":[],"format":1,"id":"5d0c…","isNamedByServer":false,"isSecure":true,"permissions":420,
///  "phase":{"running":{}},"replaces":true,"request":"6c62272e07bb014262b821756295c58d","statuses":[[200,299]],
///  "tag":"film-7","target":{"isBelowHome":true,"path":"Library/films/7.mp4"}}
/// ```
struct BackgroundDownloadRecord: BackgroundRecord, Hashable {
  static let kind = BackgroundKind.download
  static let currentFormat = 1

  private(set) var format = Self.currentFormat
  let id: String
  let tag: String?
  /// A hash of the requested resource and account.
  let request: String
  /// The target, as far as its name is known before the response.
  let target: RecordedPlace
  let isNamedByServer: Bool
  let replaces: Bool
  let permissions: UInt16
  let checksum: RecordedChecksum?
  /// The algorithms for checking the server's digests.
  let digests: [String]
  /// The accepted status codes, as pairs of first and last.
  let statuses: [[Int]]
  let contentTypes: [String]?
  /// Whether the response must arrive over https.
  let isSecure: Bool
  var phase = BackgroundPhase.running

  /// The accepted status codes. A rule that accepts 200 accepts 206 too, because the system reports 206 if it resumed
  /// the download.
  var statusRule: StatusRule {
    let rule = StatusRule(recorded: statuses)
    return rule.accepts(200) ? rule.or([206]) : rule
  }

  /// Whether the other download requests the same resource and stores it in the same way.
  func asksForSame(as other: BackgroundDownloadRecord) -> Bool {
    request == other.request && target == other.target && isNamedByServer == other.isNamedByServer
      && replaces == other.replaces && permissions == other.permissions && checksum == other.checksum
      && digests == other.digests && statuses == other.statuses && contentTypes == other.contentTypes
      && isSecure == other.isSecure
  }

  /// The target as a `Download`, for finding the file name that the server chose.
  func download(home: String) -> Download {
    let file = URL(filePath: target.path(home: home), directoryHint: .notDirectory)
    return isNamedByServer ? .into(file.deletingLastPathComponent(), named: .fromServer) : .to(file)
  }
}
