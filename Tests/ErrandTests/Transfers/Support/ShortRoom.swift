import Foundation
import Testing

/// Ways to have too little space for a file.
enum ShortRoom: Sendable {
  /// A process with a limit on the size of its files.
  case ofProcess
  /// A file system of 2 MiB. The test script mounts it if it has the permission.
  case ofDisk

  /// The ways that are available here. The limit of a process always is.
  static var here: [ShortRoom] { disk == nil ? [.ofProcess] : [.ofProcess, .ofDisk] }

  private static var disk: URL? {
    ProcessInfo.processInfo.environment["ERRAND_SMALL_DISK"]
      .flatMap { $0.isEmpty ? nil : URL(filePath: $0, directoryHint: .isDirectory) }
  }

  /// A file that takes space.
  struct Filler {
    let place: URL
    func remove() { try? FileManager.default.removeItem(at: place) }
  }

  /// The folder of a test.
  func folder() throws -> URL {
    switch self {
    case .ofProcess: .temporaryDirectory
    case .ofDisk: try #require(Self.disk)
    }
  }

  /// Fills the disk until a number of bytes is left. Does nothing for a process limit.
  func filled(leaving left: Int) throws -> Filler? {
    guard self == .ofDisk else { return nil }
    let disk = try folder()
    let found = try FileManager.default.attributesOfFileSystem(forPath: disk.path)[.systemFreeSize] as? Int
    let filler = Filler(place: disk.appending(path: "filler"))
    try Data(count: max(0, try #require(found) - left)).write(to: filler.place)
    return filler
  }

  /// The limit on file sizes for ``DownloadProcess``; 0 for no limit.
  func limit(_ bytes: Int) -> Int { self == .ofProcess ? bytes : 0 }
}
