import ErrandCore
public import Foundation

/// What went over a transport, in the order in which it was asked: a value, and a file that can be read and edited.
///
/// A ``RecordingTransport`` makes one, a ``ReplayTransport`` answers from it:
///
/// ```swift
/// try recorder.save(to: "Recordings/users.json")
/// let replay = ReplayTransport(try Recording(contentsOf: "Recordings/users.json"))
/// ```
///
/// What is edited, in the file or here, is replayed as it was edited.
public struct Recording: Sendable {
  /// The exchanges in the order in which they began.
  public var exchanges: [RecordedExchange]
  /// What was left out when it was written. A replay leaves the same out of what it compares.
  public var mask: RecordingMask

  /// Makes a recording of exchanges, which are taken as they are.
  public init(_ exchanges: [RecordedExchange] = [], mask: RecordingMask = RecordingMask()) {
    self.exchanges = exchanges
    self.mask = mask
  }

  /// Reads a file.
  /// - Throws: ``RecordingError``: no such file, damaged, or of a newer version.
  public init(contentsOf path: String) throws(RecordingError) {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw RecordingError.unreadable(path: path, reason: RecordingError.reason(error))
    }
    try self.init(parsing: data, from: path)
  }

  /// Reads the bytes of a file; `name` is what errors call it.
  /// - Throws: ``RecordingError``: damaged, or of a newer version.
  public init(parsing data: Data, from name: String = "the recording") throws(RecordingError) {
    self = try RecordingFile.recording(in: data, named: name)
  }

  /// Writes a file, and the folders above it where they are missing.
  ///
  /// It is written beside and then renamed: whoever reads meanwhile, or after this was killed, finds the old file or
  /// the new one, whole.
  /// - Throws: ``RecordingError/unwritable(path:reason:)``; the old file is left as it was.
  public func save(to path: String) throws(RecordingError) {
    let file = URL(fileURLWithPath: path)
    do {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try serialized().write(to: file, options: .atomic)
    } catch {
      throw RecordingError.unwritable(path: path, reason: RecordingError.reason(error))
    }
  }

  /// The bytes of the file.
  public func serialized() throws -> Data { try RecordingFile(self).serialized() }
}
