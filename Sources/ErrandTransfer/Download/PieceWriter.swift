import ErrandSupport
import Foundation

/// Buffers the pieces of one response body, so that the partial file gets few large writes instead of many small ones.
///
/// The transport's thread adds pieces, and writes them if there are enough. The disk queue may write the buffered bytes
/// at any time. The transport's thread and the disk queue never write at the same time, and neither holds the lock
/// during a write. Pieces that arrive during a write belong to the next write.
final class PieceWriter: Sendable {
  private struct State: Sendable {
    var buffered = Data()
    /// The number of bytes that are being written; nil if no thread writes.
    var writing: Int?
    /// The offset in the file at which the next bytes are written. Nil if the bytes are appended with
    /// ``PartFile/append(_:)``.
    var place: Int64?
    /// Whether all bytes must stay in the buffer, because the partial file is not prepared yet.
    var isHeld = false
    /// The error of a write that failed. No more bytes are written after it, because the failed write leaves a gap.
    var failure: (any Error)?

    /// Takes the bytes out of the buffer, so that the caller can write them now. Nil if there are fewer than `least`
    /// bytes, or if no write may start. After the write, the caller must call ``done(_:_:)``.
    mutating func begin(_ least: Int) -> Data? {
      guard writing == nil, !isHeld, failure == nil, buffered.count >= max(least, 1) else { return nil }
      writing = buffered.count
      defer { buffered = Data() }
      return buffered
    }

    mutating func done(_ count: Int, _ failure: (any Error)?) {
      self.failure = failure
      writing = nil
      place = place.map { $0 + Int64(count) }
    }
  }

  /// The number of buffered bytes at which a write starts: 512 KiB. Larger writes would not be faster.
  private static let writeSize = 512 << 10

  private let part: PartFile
  private let state = Locked(State())

  init(_ part: PartFile) { self.part = part }

  /// Sets the offset in the file at which the first piece is written.
  func begin(at place: Int64) { state.withLock { $0.place = place } }

  /// Keeps all pieces of the body in the buffer until ``release()`` is called.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Ends the effect of ``hold()``, and writes the buffered bytes if there are enough.
  func release() throws {
    state.withLock { $0.isHeld = false }
    try write(from: Self.writeSize)
  }

  /// Adds a piece to the buffer, and writes the buffered bytes if there are enough.
  func take(_ piece: UnsafeRawBufferPointer) throws {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      if state.buffered.isEmpty { state.buffered.reserveCapacity(Self.writeSize + piece.count) }
      state.buffered.append(contentsOf: piece)
    }
    try write(from: Self.writeSize)
  }

  /// Writes the buffered bytes, unless another thread is writing. Returns the number of bytes that are not written yet.
  func write() throws -> Int64 {
    try write(from: 1)
    return state.withLock { Int64($0.buffered.count + ($0.writing ?? 0)) }
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
      // While this thread was writing, another thread may have added bytes to the buffer. The other thread did not
      // write them, because only one thread writes at a time. So check the buffer again.
      least = Self.writeSize
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }
}
