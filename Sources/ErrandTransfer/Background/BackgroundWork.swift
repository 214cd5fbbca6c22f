import ErrandCore

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
