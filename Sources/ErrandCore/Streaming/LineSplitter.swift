import Foundation

/// Takes bytes apart into lines. Linear; holds one line at the most.
struct LineSplitter {
  /// A line has more bytes than may be held.
  struct TooLong: Error { let limit: Int }

  private let limit: Int
  private let endsAtReturn: Bool
  private var begun = Data()
  private var skipsLineFeed = false

  /// - Parameters:
  ///   - limit: How many bytes a line may have.
  ///   - endsAtReturn: Whether a carriage return on its own ends a line, too; one before a line feed always belongs to
  ///     the end.
  init(limit: Int, endsAtReturn: Bool) {
    self.limit = limit
    self.endsAtReturn = endsAtReturn
  }

  /// Adds the lines that a piece ends, without their ends; also where a later one is too long.
  mutating func take(_ piece: Data, into lines: inout [Data]) throws(TooLong) {
    var start = piece.startIndex
    if skipsLineFeed, piece.first == 0x0A { start += 1 }
    if !piece.isEmpty { skipsLineFeed = false }
    while let end = endOfLine(in: piece, from: start) {
      lines.append(try line(endingWith: piece[start..<end]))
      start = end + 1
      guard piece[end] == 0x0D else { continue }
      if start == piece.endIndex { skipsLineFeed = true } else if piece[start] == 0x0A { start += 1 }
    }
    begun.append(piece[start...])
    guard trimmed(begun).count <= limit else { throw TooLong(limit: limit) }
  }

  /// What was begun when the bytes ended; nil for nothing.
  mutating func end() -> Data? {
    defer { begun = Data() }
    return begun.isEmpty ? nil : trimmed(begun)
  }

  /// Without the carriage return that belongs to the end of a line.
  private func trimmed(_ line: Data) -> Data { !endsAtReturn && line.last == 0x0D ? line.dropLast() : line }

  private func endOfLine(in piece: Data, from start: Int) -> Int? {
    piece[start...].withUnsafeBytes { bytes in
      bytes.firstIndex { $0 == 0x0A || endsAtReturn && $0 == 0x0D }
    }.map { start + $0 }
  }

  private mutating func line(endingWith bytes: Data) throws(TooLong) -> Data {
    var line = bytes
    if !begun.isEmpty {
      begun.append(bytes)
      line = begun
      begun = Data()
    }
    line = trimmed(line)
    guard line.count <= limit else { throw TooLong(limit: limit) }
    return line
  }
}
