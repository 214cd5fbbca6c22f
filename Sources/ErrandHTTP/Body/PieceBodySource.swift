public import Foundation

/// The pieces of an asynchronous sequence. A task of its own fetches them ahead, as far as ``PieceBuffer/limit``.
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
  /// Makes a body of the pieces of an asynchronous sequence, which is read once. It is read no further ahead than about
  /// 256 KiB, so that whoever makes the pieces goes no faster than the server takes them.
  ///
  /// - Parameters:
  ///   - pieces: Gives the bytes.
  ///   - length: Their number; nil where it is not known.
  public static func pieces<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Int64? = nil) -> HTTPBody
  where Pieces.Element: DataProtocol & Sendable {
    stream(length: length) { flow in PieceBodySource(pieces, flow) }
  }
}
