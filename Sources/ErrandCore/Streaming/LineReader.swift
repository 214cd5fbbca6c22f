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
  /// The number of the last line that was returned. The first line has number 1.
  private(set) var number = 0

  /// - Parameter dropsRest: True to discard the last line if it has no line end.
  init(_ stream: ResponseStream, limit: Int, endsAtReturn: Bool = false, dropsRest: Bool = false) {
    self.dropsRest = dropsRest
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
      if let tooLong { throw failure(.lineTooLong(tooLong.limit)) }
      if isOver { return nil }
      if let piece = try await pieces.next(isolation: actor) {
        var lines: [Data] = []
        do { try splitter.take(piece, into: &lines) } catch { tooLong = error }
        ready = lines[...]
      } else {
        isOver = true
        if let last = splitter.end(), !dropsRest { ready = [last] }
      }
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
  static func lineTooLong(_ limit: Int) -> APIError { tooLong("A line", limit) }
  static func eventTooLong(_ limit: Int) -> APIError { tooLong("An event", limit) }

  private static func tooLong(_ what: String, _ limit: Int) -> APIError {
    APIError(
      .decode, .tooLarge,
      "\(what) of the response has more than \(limit) bytes; raise `limit` to allow more bytes.")
  }
}
