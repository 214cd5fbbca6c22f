import ErrandCore
import Foundation

/// Checks the files that downloads bring, and gives them their names.
struct BackgroundDownloadWork: BackgroundWork {
  typealias Record = BackgroundDownloadRecord

  let algorithms: [DigestAlgorithm]
  let home: String

  func handle(_ wait: BackgroundWait<DownloadedFile>) -> BackgroundDownload { BackgroundDownload(wait) }

  func value(
    of record: Record, hasFile: Bool, in folder: Folder, noting note: (BackgroundPhase) throws -> Void
  ) throws -> DownloadedFile {
    let placed: BackgroundPhase.PlacedFile
    switch record.phase {
    case .came(let answer):
      placed = try check(record, answer, folder)
      try note(.placing(placed))
    case .placing(let known): placed = known
    case .running, .missed, .cancelling, .failed: throw APIError.backgroundLost("its record is damaged", .download)
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
    _ record: Record, _ answer: BackgroundAnswer, _ folder: Folder
  ) throws -> BackgroundPhase.PlacedFile {
    let check = BackgroundCheck(record: record, answer: answer, algorithms: algorithms)
    let (bytes, checkedBy) = try folder.check(record.id, check)
    let named = record.download(home: home).target(saidBy: answer.head.fields)
    let target = named.map { RecordedPlace($0, home: home) } ?? record.target
    return .init(target: target, bytes: bytes, checkedBy: checkedBy)
  }

  /// The file of one that failed is worth nothing, and is removed at once.
  func isFoundAgain(_ error: APIError) -> Bool { false }

  func failure(_ error: APIError, of record: Record, in folder: Folder) -> APIError { error }
}

/// What is done with transfers of one kind; what all kinds have in common is done by ``BackgroundEngine``.
protocol BackgroundWork: Sendable {
  associatedtype Record: BackgroundRecord
  associatedtype Handle: BackgroundHandle
  typealias Folder = BackgroundFolder<Record>

  /// Makes what the app holds of a transfer.
  func handle(_ wait: BackgroundWait<Handle.Value>) -> Handle

  /// Makes what is told of an answer that came.
  /// - Parameters:
  ///   - hasFile: Whether its file is in the folder; where it is not, it has its last name.
  ///   - note: Writes down how far this is.
  func value(
    of record: Record, hasFile: Bool, in folder: Folder, noting note: (BackgroundPhase) throws -> Void
  ) throws -> Handle.Value

  /// Whether the record and its file, left as they are, say the same once more at the next launch.
  func isFoundAgain(_ error: APIError) -> Bool

  /// What is told where the system has failed.
  func failure(_ error: APIError, of record: Record, in folder: Folder) -> APIError
}
