public import Foundation

/// Provides the pieces of an asynchronous sequence as a body. A separate task reads the sequence ahead, up to
/// ``PieceBuffer/limit`` bytes.
final class PieceBodySource: BodySource {
  private let buffer: PieceBuffer
  private let task: Task<Void, Never>

  init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, _ flow: BodyFlow)
  where Pieces.Element: DataProtocol & Sendable {
    let buffer = PieceBuffer(flow)
    self.buffer = buffer
    task = Task {
      do {
        for try await piece in pieces {
          guard await buffer.put(Data(piece)) else { return }
        }
        buffer.finish(nil)
      } catch {
        buffer.finish(error)
      }
    }
  }

  deinit {
    task.cancel()
    buffer.abandon()
  }

  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead { try buffer.take(into: room) }
}

extension HTTPBody {
  /// Makes a body from the pieces of an asynchronous sequence, which is read once. The sequence is read at most about
  /// 256 KiB ahead of the transfer, so that the producer runs no faster than the server receives.
  ///
  /// - Parameters:
  ///   - pieces: The sequence of the bytes.
  ///   - length: The total number of bytes; nil if it is unknown.
  public static func pieces<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Int64? = nil) -> HTTPBody
  where Pieces.Element: DataProtocol & Sendable {
    stream(length: length) { flow in PieceBodySource(pieces, flow) }
  }
}
