import ErrandSupport
import Foundation

/// Gathers the pieces of one body, so that the partial file gets few large writes instead of many small ones.
///
/// The transport's thread adds pieces; the disk queue may write the gathered bytes at any time. Only one of these two
/// threads writes at a time, without holding the lock. Pieces that arrive during a write belong to the next write.
final class PieceWriter: Sendable {
  private struct State: Sendable {
    var gathered = Data()
    /// The number of bytes that are being written; nil if no thread writes.
    var writing: Int?
    /// The offset of the next write; nil to append to the single stream.
    var place: Int64?
    /// Whether nothing may be written yet.
    var isHeld = false
    /// The failure of a write. Nothing is written after it, because the failed write leaves a gap.
    var failure: (any Error)?

    /// The bytes to write now, if there are enough and no other thread writes. The caller must call ``done(_:_:)``
    /// afterwards.
    mutating func begin(_ least: Int) -> Data? {
      guard writing == nil, !isHeld, failure == nil, gathered.count >= max(least, 1) else { return nil }
      writing = gathered.count
      defer { gathered = Data() }
      return gathered
    }

    mutating func done(_ count: Int, _ failure: (any Error)?) {
      self.failure = failure
      writing = nil
      place = place.map { $0 + Int64(count) }
    }
  }

  /// The size of one write in bytes: 512 KiB. Larger writes save nothing more.
  private static let room = 512 << 10

  private let part: PartFile
  private let state = Locked(State())

  init(_ part: PartFile) { self.part = part }

  /// Sets the offset of the first piece.
  func begin(at place: Int64) { state.withLock { $0.place = place } }

  /// Keeps pieces in memory until ``release()``.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Lets pieces be written.
  func release() throws {
    state.withLock { $0.isHeld = false }
    try write(from: Self.room)
  }

  /// Adds a piece, and writes the gathered bytes once there are enough.
  func take(_ piece: UnsafeRawBufferPointer) throws {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      if state.gathered.isEmpty { state.gathered.reserveCapacity(Self.room + piece.count) }
      state.gathered.append(contentsOf: piece)
    }
    try write(from: Self.room)
  }

  /// Writes the gathered bytes, unless another thread is writing. Returns the number of bytes that are not written yet.
  func write() throws -> Int64 {
    try write(from: 1)
    return state.withLock { Int64($0.gathered.count + ($0.writing ?? 0)) }
  }

  private func write(_ bytes: Data, at place: Int64?) throws {
    try bytes.withUnsafeBytes { bytes in
      if let place { try part.write(bytes, at: place) } else { try part.append(bytes) }
    }
  }

  private func write(from least: Int) throws {
    var least = least
    while let bytes = state.withLock({ $0.begin(least) }) {
      let result = Result { try write(bytes, at: state.withLock { $0.place }) }
      switch result {
      case .success: state.withLock { $0.done(bytes.count, nil) }
      case .failure(let error):
        state.withLock { $0.done(bytes.count, error) }
        throw error
      }
      // The other thread may have added bytes during the write, but has not written them. So this thread checks again.
      least = Self.room
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }
}
