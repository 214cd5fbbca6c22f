import ErrandCore
import Foundation

/// Validates the files of finished downloads and moves them to their targets.
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

  /// Always false: the file of a failed download is useless and is removed at once, so the next launch cannot check it.
  func isFoundAgain(_ error: APIError) -> Bool { false }

  func failure(_ error: APIError, of record: Record, in folder: Folder) -> APIError { error }
}

/// The operations that differ between downloads and uploads. ``BackgroundEngine`` contains the common operations.
protocol BackgroundWork: Sendable {
  associatedtype Record: BackgroundRecord
  associatedtype Handle: BackgroundHandle
  typealias Folder = BackgroundFolder<Record>

  /// Makes the handle that the app gets.
  func handle(_ wait: BackgroundWait<Handle.Value>) -> Handle

  /// Makes the value to report from a response.
  /// - Parameters:
  ///   - hasFile: Whether the response file is in the folder. If not, it is already at its target.
  ///   - note: Saves a new phase in the record.
  func value(
    of record: Record, hasFile: Bool, in folder: Folder, noting note: (BackgroundPhase) throws -> Void
  ) throws -> Handle.Value

  /// Whether the next launch finds the same error again if the record and the response file are kept.
  func isFoundAgain(_ error: APIError) -> Bool

  /// The error to report if the system could not perform the transfer.
  func failure(_ error: APIError, of record: Record, in folder: Folder) -> APIError
}
