import Foundation

/// Reads the lines of a response body as bytes, and counts the lines.
struct LineReader {
  private var pieces: ResponseStream.Iterator
  private var splitter: LineSplitter
  private var ready: ArraySlice<Data> = []
  /// The error for a line that is too long. It is thrown after all complete lines before the long line were returned.
  private var tooLong: LineSplitter.TooLong?
  private var isOver = false
  private let dropsRest: Bool
  /// The error that is thrown for a line that is too long; nil for the error of a line of a response.
  private let overflow: APIError?
  /// The number of the last line that was returned. The first line has number 1.
  private(set) var number = 0

  /// - Parameters:
  ///   - dropsRest: True to discard the last line if it has no line end.
  ///   - overflow: The error for a line that is too long; nil for the error of a line of a response.
  init(
    _ stream: ResponseStream, limit: Int, endsAtReturn: Bool = false, dropsRest: Bool = false,
    overflow: APIError? = nil
  ) {
    self.dropsRest = dropsRest
    self.overflow = overflow
    pieces = stream.makeAsyncIterator()
    splitter = LineSplitter(limit: limit, endsAtReturn: endsAtReturn)
  }

  /// Returns the next line; nil after the last line. The last line may lack a line end.
  mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Data? {
    while true {
      if let line = ready.popFirst() {
        number += 1
        return number == 1 ? line.withoutByteOrderMark : line
      }
      if let tooLong { throw failure(overflow ?? .lineTooLong(tooLong.limit)) }
      if isOver { return nil }
      if let piece = try await nextPiece(isolation: actor) {
        var lines: [Data] = []
        do { try splitter.take(piece, into: &lines) } catch { tooLong = error }
        ready = lines[...]
      } else {
        isOver = true
        if let last = splitter.end(), !dropsRest { ready = [last] }
      }
    }
  }

  /// Returns the next piece of the body. After an error the reader is over, so that the incomplete line before the
  /// error is never returned.
  private mutating func nextPiece(isolation actor: isolated (any Actor)?) async throws(APIError) -> Data? {
    do {
      return try await pieces.next(isolation: actor)
    } catch {
      isOver = true
      throw error
    }
  }

  /// Cancels the call because of an error and discards the rest of the response. Returns the error.
  mutating func failure(_ error: APIError) -> APIError {
    pieces.lease.call.cancel()
    isOver = true
    tooLong = nil
    ready = []
    return error
  }
}

extension Data {
  /// The data without the UTF-8 byte order mark with which some servers begin a body.
  fileprivate var withoutByteOrderMark: Data { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}

extension APIError {
  static func lineTooLong(_ limit: Int) -> APIError {
    APIError(
      .decode, .tooLarge, "A line of the response has more than \(limit) bytes; raise `limit` to allow more bytes.")
  }

  /// - Parameter limit: The limit that the caller of ``APIClient/events(of:options:reconnecting:limit:)`` has set.
  static func eventTooLong(_ limit: Int) -> APIError {
    APIError(
      .decode, .tooLarge,
      "The data of an event, or a line of the event stream, has more than \(limit) bytes; raise `limit` of"
        + " `events(of:)` to allow more bytes.")
  }
}

/// Splits bytes into lines, in linear time. It stores at most one incomplete line.
struct LineSplitter {
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
