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
struct BackgroundRecord: Sendable, Hashable, Codable {
  /// The format that is written and read. Any other one is as good as no record.
  static let format = 1

  /// How far the download is.
  enum Phase: Sendable, Hashable, Codable {
    /// The system has it.
    case running
    /// The system had it not when it was asked; what became of it may still be told.
    case missed
    /// It was cancelled here, and its end is not told yet.
    case cancelling
    /// Its file was taken, and is to be checked.
    case came(BackgroundAnswer)
    /// Its file was checked, and is to be given its name.
    case placing(PlacedFile)
    /// It failed, and somebody is to be told.
    case failed(BackgroundFault)
  }

  /// A file that was checked.
  struct PlacedFile: Sendable, Hashable, Codable {
    let target: RecordedPlace
    let bytes: Int64
    let checkedBy: [String]
  }

  private(set) var format = Self.format
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
  var phase = Phase.running

  /// The status codes that are taken. Whoever takes 200 takes 206, too: it is what the end of a body comes with that the
  /// system has taken up again.
  var statusRule: StatusRule {
    let pairs = statuses.compactMap { pair -> ClosedRange<Int>? in
      guard pair.count == 2, let first = pair.first, let last = pair.last, first <= last else { return nil }
      return first...last
    }
    let rule = StatusRule(ranges: pairs)
    return rule.accepts(200) ? rule.or([206]) : rule
  }

  /// Whether the same is asked for, to be kept in the same way.
  func asksForSame(as other: BackgroundRecord) -> Bool {
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

  /// The bytes of the file.
  func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Reads the bytes of a file; nil for what is no record of this format.
  static func read(_ bytes: Data) -> BackgroundRecord? {
    guard let record = try? JSONDecoder().decode(BackgroundRecord.self, from: bytes), record.format == format else {
      return nil
    }
    return record
  }
}
