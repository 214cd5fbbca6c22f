import ErrandCore
import Foundation

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
