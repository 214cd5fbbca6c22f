import Foundation

/// Splits bytes into lines, in linear time. It stores at most one incomplete line.
struct LineSplitter {
  /// The error for a line that has more bytes than the limit.
  struct TooLong: Error { let limit: Int }

  private let limit: Int
  private let endsAtReturn: Bool
  private var begun = Data()
  private var skipsLineFeed = false

  /// - Parameters:
  ///   - limit: The largest size of a line, in bytes.
  ///   - endsAtReturn: True if a carriage return alone also ends a line. A carriage return directly before a line feed
  ///     is always a part of the line end.
  init(limit: Int, endsAtReturn: Bool) {
    self.limit = limit
    self.endsAtReturn = endsAtReturn
  }

  /// Appends to `lines` the lines that the piece completes, without their line ends. If a line is too long, the lines
  /// before it are still appended.
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

  /// Returns the last line if it has no line end; nil if there is no such line.
  mutating func end() -> Data? {
    defer { begun = Data() }
    return begun.isEmpty ? nil : trimmed(begun)
  }

  /// Removes a carriage return at the end of the line, unless a carriage return alone ends a line.
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
