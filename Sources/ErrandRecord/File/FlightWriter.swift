import Dispatch
import ErrandCore
import ErrandSupport
import Foundation

/// Writes calls to the end of a flight file. See ``FlightFile`` for the format.
final class FlightWriter: Sendable {
  private let encoder: FlightLines
  private let segment: FlightSegment
  private let state = Locked(FlightFile.Counts())
  /// Runs one write at a time on the thread of the call.
  private let queue = DispatchQueue(label: "errand.flight-file")

  init(path: String, limit: Int) {
    encoder = FlightLines(run: String(UInt32.random(in: .min ... .max), radix: 16), longest: limit / 8)
    segment = FlightSegment(path: path, limit: limit)
  }

  var counts: FlightFile.Counts { state.withLock { $0 } }

  /// Creates the folder and the file, and checks that an existing file is a flight file.
  func prepare() throws(FlightFileError) {
    let folder = (segment.path as NSString).deletingLastPathComponent
    if !folder.isEmpty {
      try? FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    if let failure = queue.sync(execute: { segment.prepare() }) { throw FlightFileError(failure) }
  }

  /// Writes a call. Returns when the system has taken the bytes, or when that has failed.
  func write(_ call: FlightCall) {
    guard let (lines, isShortened) = encoder.lines(call.harEntries) else {
      return count(lost: "Call \(call.number) is longer than an eighth of the limit of the file. Raise the limit.")
    }
    if let failure = queue.sync(execute: { segment.append(lines) }) { return count(lost: failure) }
    state.withLock { state in
      state.written += 1
      if isShortened { state.shortened += 1 }
    }
  }

  private func count(lost reason: String) {
    state.withLock { state in
      state.lost += 1
      state.lastFailure = reason
    }
  }
}
