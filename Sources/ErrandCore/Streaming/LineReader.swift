import Foundation

/// Reads the lines of a stream as bytes, and counts them.
struct LineReader {
  private var pieces: ResponseStream.Iterator
  private var splitter: LineSplitter
  private var ready: ArraySlice<Data> = []
  /// A line behind those that are ready.
  private var tooLong: LineSplitter.TooLong?
  private var isOver = false
  private let dropsRest: Bool
  /// The number of the last line, from 1.
  private(set) var number = 0

  /// - Parameter dropsRest: Whether a last line without an end counts for nothing.
  init(_ stream: ResponseStream, limit: Int, endsAtReturn: Bool = false, dropsRest: Bool = false) {
    self.dropsRest = dropsRest
    pieces = stream.makeAsyncIterator()
    splitter = LineSplitter(limit: limit, endsAtReturn: endsAtReturn)
  }

  /// The next line; nil behind the last one, which may lack its end.
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

  /// An error that ends the call: nobody wants the rest.
  mutating func failure(_ error: APIError) -> APIError {
    pieces.lease.call.cancel()
    isOver = true
    tooLong = nil
    ready = []
    return error
  }
}

extension Data {
  /// Without the byte order mark of UTF-8 that some servers begin a text with.
  fileprivate var withoutByteOrderMark: Data { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}

extension APIError {
  static func lineTooLong(_ limit: Int) -> APIError { tooLong("A line", limit) }
  static func eventTooLong(_ limit: Int) -> APIError { tooLong("An event", limit) }

  private static func tooLong(_ what: String, _ limit: Int) -> APIError {
    APIError(
      .decode, Code(rawValue: TransportFailure.Kind.tooLarge.rawValue),
      "\(what) of the answer has more than \(limit) bytes; raise `limit` if it is meant.")
  }
}
