/// A file of the app that an upload sends without copying it, with the properties that the file had when the upload was
/// handed over to the system.
struct BackgroundSource: Sendable, Hashable, Codable {
  /// The state of the app's file since the upload was handed over to the system: unchanged, changed or removed.
  enum State: Sendable, Hashable, CaseIterable {
    case unchanged
    case changed
    case gone
  }

  let place: RecordedPlace
  private let length: Int64
  /// The inode number of the file. The device number is not stored, because it may change when the system restarts.
  private let number: UInt64
  private let modified: FileTime

  init(_ path: String, _ status: FileStatus, home: String) {
    place = RecordedPlace(path, home: home)
    length = status.length
    number = status.identity.number
    modified = status.modified
  }

  /// Compares the stored properties with the present status of the file. `status` is nil if no file is at the path.
  func state(now status: FileStatus?) -> State {
    guard let status else { return .gone }
    let isSame =
      status.kind == .file && status.length == length && status.identity.number == number && status.modified == modified
    return isSame ? .unchanged : .changed
  }
}
