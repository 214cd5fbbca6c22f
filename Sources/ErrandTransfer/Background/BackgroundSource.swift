/// The app's own file that an upload is sent from, where it lies, and what it was when it was handed over.
struct BackgroundSource: Sendable, Hashable, Codable {
  /// What has become of it since.
  enum State: Sendable, Hashable, CaseIterable {
    case unchanged
    case changed
    case gone
  }

  let place: RecordedPlace
  private let length: Int64
  /// Its number; the device's may be another one after the next start of the system.
  private let number: UInt64
  private let modified: FileTime

  init(_ path: String, _ status: FileStatus, home: String) {
    place = RecordedPlace(path, home: home)
    length = status.length
    number = status.identity.number
    modified = status.modified
  }

  /// By what lies in its place now; nil for nothing.
  func state(now status: FileStatus?) -> State {
    guard let status else { return .gone }
    let isSame =
      status.kind == .file && status.length == length && status.identity.number == number && status.modified == modified
    return isSame ? .unchanged : .changed
  }
}
