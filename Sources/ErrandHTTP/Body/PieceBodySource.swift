public import Foundation

/// Provides the pieces of an asynchronous sequence as a body. A separate task reads the sequence, at most about
/// ``PieceBuffer/limit`` bytes ahead of the transport.
final class PieceBodySource: BodySource {
  private let pieceBuffer: PieceBuffer
  private let task: Task<Void, Never>

  init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, _ flow: BodyFlow)
  where Pieces.Element: DataProtocol & Sendable {
    let pieceBuffer = PieceBuffer(flow)
    self.pieceBuffer = pieceBuffer
    task = Task {
      do {
        for try await piece in pieces {
          guard await pieceBuffer.put(Data(piece)) else { return }
        }
        pieceBuffer.finish(nil)
      } catch {
        pieceBuffer.finish(error)
      }
    }
  }

  deinit {
    task.cancel()
    pieceBuffer.abandon()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead { try pieceBuffer.take(into: buffer) }
}

extension HTTPBody {
  /// Makes a body from the pieces of an asynchronous sequence. The body can be sent only once, because the sequence is
  /// read only once. The sequence is read at most about 256 KiB ahead of the transfer, so that the producer runs no
  /// faster than the server receives.
  ///
  /// - Parameters:
  ///   - pieces: The sequence whose elements are the pieces of the body.
  ///   - length: The total number of bytes; nil if it is unknown.
  public static func pieces<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Int64? = nil) -> HTTPBody
  where Pieces.Element: DataProtocol & Sendable {
    stream(length: length) { flow in PieceBodySource(pieces, flow) }
  }
}
