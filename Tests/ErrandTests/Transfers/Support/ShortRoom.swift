import Foundation
import Testing

/// Too little room for a file.
enum ShortRoom: Sendable {
  /// A process whose files may not grow beyond a limit.
  case ofProcess
  /// A file system of 2 MiB, which the test script mounts where it may.
  case ofDisk

  /// What can be had here: the limit everywhere.
  static var here: [ShortRoom] { disk == nil ? [.ofProcess] : [.ofProcess, .ofDisk] }

  private static var disk: URL? {
    ProcessInfo.processInfo.environment["ERRAND_SMALL_DISK"]
      .flatMap { $0.isEmpty ? nil : URL(filePath: $0, directoryHint: .isDirectory) }
  }

  /// A file that takes up room.
  struct Filler {
    let place: URL
    func remove() { try? FileManager.default.removeItem(at: place) }
  }

  /// Where the folder of a test goes.
  func folder() throws -> URL {
    switch self {
    case .ofProcess: .temporaryDirectory
    case .ofDisk: try #require(Self.disk)
    }
  }

  /// Fills the disk up to so many bytes; does nothing where it is none.
  func filled(leaving left: Int) throws -> Filler? {
    guard self == .ofDisk else { return nil }
    let disk = try folder()
    let found = try FileManager.default.attributesOfFileSystem(forPath: disk.path)[.systemFreeSize] as? Int
    let filler = Filler(place: disk.appending(path: "filler"))
    try Data(count: max(0, try #require(found) - left)).write(to: filler.place)
    return filler
  }

  /// How large the files of a process may become, for ``DownloadProcess``; 0 for any length.
  func limit(_ bytes: Int) -> Int { self == .ofProcess ? bytes : 0 }
}
