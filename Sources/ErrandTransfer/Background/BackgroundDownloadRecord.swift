import ErrandCore
import Foundation

/// What is known of a background download: the file `<id>.download` in the folder of ``BackgroundDownloads``, one JSON
/// object. Neither URL nor fields of the request stand in it, for they may hold secrets: a hash tells requests apart.
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
  /// A hash of what was asked for.
  let request: String
  /// The file, as far as its name is known before the answer.
  let target: RecordedPlace
  let isNamedByServer: Bool
  let replaces: Bool
  let permissions: UInt16
  let checksum: RecordedChecksum?
  /// The algorithms by which the server's digests are checked.
  let digests: [String]
  /// The status codes that are taken, as pairs of first and last.
  let statuses: [[Int]]
  let contentTypes: [String]?
  /// Whether the answer must have come by https.
  let isSecure: Bool
  var phase = BackgroundPhase.running

  /// The status codes that are taken. Whoever takes 200 takes 206, too: it is what the end of a body comes with that the
  /// system has taken up again.
  var statusRule: StatusRule {
    let rule = StatusRule(recorded: statuses)
    return rule.accepts(200) ? rule.or([206]) : rule
  }

  /// Whether the same is asked for, to be kept in the same way.
  func asksForSame(as other: BackgroundDownloadRecord) -> Bool {
    request == other.request && target == other.target && isNamedByServer == other.isNamedByServer
      && replaces == other.replaces && permissions == other.permissions && checksum == other.checksum
      && digests == other.digests && statuses == other.statuses && contentTypes == other.contentTypes
      && isSecure == other.isSecure
  }

  /// Where the file goes, for a download that its server names.
  func download(home: String) -> Download {
    let file = URL(filePath: target.path(home: home), directoryHint: .notDirectory)
    return isNamedByServer ? .into(file.deletingLastPathComponent(), named: .fromServer) : .to(file)
  }
}
