import Dispatch
public import ErrandCore
import ErrandSupport
public import Foundation

/// Writes each call of a client's `FlightRecord` to a file as soon as the call has ended, so that the record survives a
/// crash of the process.
///
/// ```swift
/// let file = try FlightFile(at: url, recording: client.flightRecord, limit: 8 << 20)
/// ```
///
/// Calls are written as long as this object exists. A call is in the file before its outcome is delivered, so the call
/// that an app handles when it crashes is in the file. It is written by one system call on the thread that ended the
/// call, and is not synchronized with the disk: it survives the end of the process, but perhaps not a power failure.
/// Texts are masked as the `FlightRecording.Detail` of the client demands. Only the user can read the file: other
/// users lose their permissions for an existing one.
///
/// ## Format
///
/// The file has JSON objects on lines of their own: first `{"format":"errand-flight","version":1}`, then the entries of
/// `FlightRecord.har()`, one on each line. In addition, `_errand` contains `run`, a random text for each object of this
/// type, because the numbers of calls are only unique in a process. A line feed precedes and follows each call, so a
/// line that was cut off damages no other line. A first line that was cut off is written again if no call follows it.
///
/// If a call would make the file longer than three eighths of the limit, the file is renamed: `.1` is appended to its
/// name, and an older file of that name is replaced. So both files together stay below the limit. An object whose
/// entries have more than an eighth of the limit is written without its first entries, without bodies, or not at all.
///
/// Several processes and several clients can write to the same file: each writes whole calls to the end of the file, and
/// a lock (`flock`) lets only one of them rename it. They should have the same limit.
///
/// A full disk, a deleted folder and other failures never affect a call. ``counts`` contains their number.
public final class FlightFile: Sendable {
  /// The smallest limit in bytes.
  public static let smallestLimit = 64 << 10
  /// The largest limit in bytes: 256 MiB, which ``HTTPArchive`` reads.
  public static let largestLimit = HTTPArchive.largestSize

  /// The numbers of calls that a ``FlightFile`` has and has not written.
  public struct Counts: Sendable, Hashable {
    /// The number of calls that were written.
    public var written = 0
    /// The number of written calls of which the first entries or the bodies were left out, because the call was too
    /// large for the limit.
    public var shortened = 0
    /// The number of calls that were not written, because writing failed or the call was too large.
    public var lost = 0
    /// The reason why the last of the lost calls was not written; nil if no call was lost.
    public var lastFailure: String?
  }

  /// The location of the file.
  public let url: URL
  private let record: FlightRecord
  private let writer: FlightWriter
  private let observer: Int

  /// Begins to write the calls of a record to a file. Creates missing folders, and continues an existing file.
  /// - Parameters:
  ///   - url: The location of the file. The older part has the same name with `.1` at its end.
  ///   - record: The record of the client. The client must have `ClientConfiguration.record` on.
  ///   - limit: The largest size of both parts together in bytes, from ``smallestLimit`` to ``largestLimit``.
  /// - Throws: ``FlightFileError`` if the file cannot be opened, is no flight file, or the limit is out of its range.
  public init(at url: URL, recording record: FlightRecord, limit: Int = 16 << 20) throws(FlightFileError) {
    guard limit >= Self.smallestLimit else {
      throw FlightFileError("The limit of \(limit) bytes is too small: use at least \(Self.smallestLimit).")
    }
    guard limit <= Self.largestLimit else {
      throw FlightFileError("The limit of \(limit) bytes is too large to be read: use at most \(Self.largestLimit).")
    }
    let writer = FlightWriter(path: url.path(percentEncoded: false), limit: limit)
    try writer.prepare()
    (self.url, self.record, self.writer) = (url, record, writer)
    observer = record.addObserver { call in writer.write(call) }
  }

  /// How many calls were written, and how many were lost.
  public var counts: Counts { writer.counts }

  deinit { record.removeObserver(observer) }
}

/// The reason why a ``FlightFile`` cannot be written.
public struct FlightFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The cause and the cure.
  public let description: String

  init(_ description: String) { self.description = description }
}

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
