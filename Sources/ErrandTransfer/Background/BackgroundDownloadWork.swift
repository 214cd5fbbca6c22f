import ErrandCore
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
    case .came(let stored):
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
