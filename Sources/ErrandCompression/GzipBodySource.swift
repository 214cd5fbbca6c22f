import ErrandCore

/// A body that is compressed while it is sent.
///
/// One read takes no more than a piece from the source underneath once it has something to give, so that the transport's
/// thread, which serves other transfers too, is never held for long.
final class GzipBodySource: BodySource {
  private static let pieceSize = 64 << 10

  private let source: any BodySource
  private let deflater: Deflater
  private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
  private var rest: Range<Int> = 0..<0
  private var hasAll = false
  private var isDone = false

  init(_ source: any BodySource, level: Int) throws {
    self.source = source
    deflater = try Deflater(level: level)
  }

  deinit { piece.deallocate() }

  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    var count = 0
    while !isDone, count < room.count {
      if rest.isEmpty, !hasAll {
        if count > 0 { break }
        guard try refill() else { return .later }
      }
      let step = try deflater.deflate(
        UnsafeMutableRawBufferPointer(rebasing: piece[rest]), isLast: hasAll,
        into: UnsafeMutableRawBufferPointer(rebasing: room[count...]))
      rest = (rest.lowerBound + step.used)..<rest.upperBound
      count += step.produced
      isDone = step.isDone
    }
    return count > 0 ? .bytes(count) : .end
  }

  /// False where the source has nothing now.
  private func refill() throws -> Bool {
    switch try source.read(into: piece) {
    case .bytes(let count): rest = 0..<count
    case .end: hasAll = true
    case .later: return false
    }
    return true
  }
}
