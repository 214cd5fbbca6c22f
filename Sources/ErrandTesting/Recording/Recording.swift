public import ErrandCore
public import ErrandJSON
public import Foundation

/// The exchanges of a transport, in the order in which they began. A recording can be saved to a file that people can
/// read and edit.
///
/// A ``RecordingTransport`` creates a recording, and a ``ReplayTransport`` responds from it:
///
/// ```swift
/// try recorder.save(to: "Recordings/users.json")
/// let replay = ReplayTransport(try Recording(contentsOf: "Recordings/users.json"))
/// ```
///
/// If the file or this value is changed, a replay uses the changed exchanges.
public struct Recording: Sendable {
  /// The exchanges in the order in which they began.
  public var exchanges: [RecordedExchange]
  /// The values to mask. A ``RecordingTransport`` has already masked them in the exchanges. A replay also masks them in
  /// each request before it compares the request with the recording.
  public var mask: RecordingMask

  /// Creates a recording from exchanges. This initializer does not mask the exchanges.
  public init(_ exchanges: [RecordedExchange] = [], mask: RecordingMask = RecordingMask()) {
    self.exchanges = exchanges
    self.mask = mask
  }

  /// Reads a recording from a file.
  /// - Throws: ``RecordingError`` if the file does not exist, is damaged, or has a newer version.
  public init(contentsOf path: String) throws(RecordingError) {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw RecordingError.unreadable(path: path, reason: RecordingError.reason(error))
    }
    try self.init(parsing: data, from: path)
  }

  /// Reads a recording from a file.
  /// - Throws: ``RecordingError`` if the file does not exist, is damaged, or has a newer version.
  public init(contentsOf file: URL) throws(RecordingError) { try self.init(contentsOf: file.path) }

  /// Parses the bytes of a recording's file. Errors contain `name` as the name of the file.
  /// - Throws: ``RecordingError`` if the file is damaged or has a newer version.
  public init(parsing data: Data, from name: String = "the recording") throws(RecordingError) {
    self = try RecordingFile.recording(in: data, named: name)
  }

  /// Writes the recording to a file, and creates missing parent folders.
  ///
  /// The file is written under a temporary name in the same folder and then renamed. So a concurrent reader, or a
  /// reader after a crash, finds either the complete old file or the complete new file.
  /// - Throws: ``RecordingError/unwritable(path:reason:)``; the old file is then unchanged.
  public func save(to path: String) throws(RecordingError) {
    let file = URL(fileURLWithPath: path)
    do {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try serialized().write(to: file, options: .atomic)
    } catch {
      throw RecordingError.unwritable(path: path, reason: RecordingError.reason(error))
    }
  }

  /// Writes the recording to a file, and creates missing parent folders, in the same way as with a path.
  /// - Throws: ``RecordingError/unwritable(path:reason:)``; the old file is then unchanged.
  public func save(to file: URL) throws(RecordingError) { try save(to: file.path) }

  /// The recording as the bytes of a file.
  public func serialized() throws -> Data { try RecordingFile(self).serialized() }
}

extension Recording {
  /// Compares the recorded responses with the types that requests decode now, and returns the differences. No request
  /// is sent.
  ///
  /// Each response is decoded as the client would decode it, with the JSON rules of the request. If the request
  /// declares an `Envelope`, the value inside the envelope is decoded. If the client rejects the status or the code in
  /// the envelope, the response is decoded as the request's `ErrorBody`. Responses that are not decoded from JSON,
  /// responses without a body and recorded failures are not compared.
  ///
  /// ```swift
  /// let differences = try await recording.differences(from: client, GetUser(id: 7), GetNews())
  /// #expect(differences.isEmpty, "\(differences)")
  /// ```
  ///
  /// - Parameters:
  ///   - client: The client whose rules apply.
  ///   - requests: The requests whose response types are compared. Each exchange is compared with the first of these
  ///     requests that matches the exchange.
  ///   - parts: The parts of the requests that are compared. A request matches an exchange if all these parts are equal
  ///     in the request and in the recorded request.
  /// - Throws: `APIError` if a request cannot be built.
  public func differences<each R: APIRequest>(
    from client: APIClient, _ requests: repeat each R, matching parts: [RequestPart] = [.method, .path]
  ) async throws(APIError) -> RecordingDifferences {
    var readings: [ResponseReading] = []
    repeat readings.append(try await client.reading(of: each requests))
    return differences(from: readings, matching: parts)
  }

  private func differences(from readings: [ResponseReading], matching parts: [RequestPart]) -> RecordingDifferences {
    var masking = Masking(mask)
    let requests = readings.map { masking.request($0.request) }
    var result = RecordingDifferences()
    for (index, exchange) in exchanges.enumerated() {
      let place = requests.firstIndex { sent in parts.allSatisfy { $0.isSame(exchange.request, sent) } }
      if let place {
        result.all += differences(of: exchange, number: index + 1, readings[place])
      } else {
        result.uncompared.append(index + 1)
      }
    }
    return result
  }

  private func differences(
    of exchange: RecordedExchange, number: Int, _ reading: ResponseReading
  ) -> [RecordingDifference] {
    let answer = exchange.answer
    guard answer.failure == nil, answer.breakage == nil, !answer.body.isEmpty else { return [] }
    let response = HTTPResponse(head: answer.head, body: answer.body, url: exchange.request.url)
    return reading.differences(response).map { difference in
      RecordingDifference(
        exchange: number, request: "\(exchange.request.method) \(exchange.request.url.string)",
        kind: RecordingDifference.Kind(difference.kind), path: difference.path, reason: difference.reason,
        count: difference.count)
    }
  }
}

extension RecordingDifference.Kind {
  fileprivate init(_ kind: JSONDifference.Kind) {
    switch kind {
    case .notRead: self = .notRead
    case .missing: self = .missing
    case .otherType: self = .otherType
    case .unreadable: self = .unreadable
    }
  }
}

/// One exchange of a ``Recording``: a request and its outcome.
public struct RecordedExchange: Sendable {
  /// The request. Its body is in memory, even if the original body was streamed.
  public var request: HTTPRequest
  /// The outcome: a response, a failure, or an incomplete response with a failure.
  public var answer: ScriptedAnswer

  /// Creates an exchange from a request and its outcome.
  public init(request: HTTPRequest, answer: ScriptedAnswer) {
    self.request = request
    self.answer = answer
  }
}

extension RecordedExchange: CustomStringConvertible {
  /// The request and the outcome on one line. The values in the query of the URL are masked.
  public var description: String { "\(request): \(outcome)" }

  private var outcome: String {
    if let failure = answer.failure { return "failure \(failure.kind)" }
    let text = "\(answer.head.status), \(answer.body.count) bytes"
    return answer.breakage.map { "\(text), then failure \($0.kind)" } ?? text
  }
}

/// The reason why a recording could not be read, created or written.
public enum RecordingError: Error, Sendable, Hashable {
  /// The recording's file does not exist, or reading the file is not permitted.
  case unreadable(path: String, reason: String)
  /// The file is damaged or is not a recording. If the mistake has a position in the file, the text `reason` contains
  /// the JSON path of this position.
  case damaged(path: String, reason: String)
  /// The recording's file was written by a newer version of the library.
  case newer(path: String, version: Int, known: Int)
  /// The recording's file cannot be written.
  case unwritable(path: String, reason: String)
  /// A body was longer than the limit `bodyLimit` with which the ``RecordingTransport`` was created.
  case tooLarge(request: String, limit: Int)

  static func reason(_ error: any Error) -> String {
    (error as NSError).localizedDescription
  }
}

extension RecordingError: CustomStringConvertible {
  /// A text that names the cause and the cure. If a file cannot be written, the text names only the cause.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason):
      "The recording \(path) cannot be read: \(reason) Record it first with a `RecordingTransport`."
    case .damaged(let path, let reason):
      "The recording \(path) is damaged: \(reason). Correct the file, or record it again."
    case .newer(let path, let version, let known):
      "The recording \(path) has version \(version), but this library reads only versions up to \(known). "
        + "Update the library, or record it again."
    case .unwritable(let path, let reason):
      "The recording cannot be written to \(path): \(reason)"
    case .tooLarge(let request, let limit):
      "\(request) has a body of more than \(limit) bytes, which cannot be recorded. "
        + "Raise the recorder's `bodyLimit`, or do not record that call."
    }
  }
}

/// A difference between a recorded response and the type that a request decodes now.
public struct RecordingDifference: Sendable, Hashable {
  /// The kind of difference.
  public enum Kind: Sendable, Hashable {
    /// The recorded response has a JSON member that the decoded type does not read.
    case notRead
    /// The decoded type needs a JSON member that the recorded response does not have.
    case missing
    /// A JSON member of the recorded response has another type than the decoded type needs, or an invalid value.
    case otherType
    /// The recorded response is not JSON.
    case unreadable
  }

  /// The number of the exchange in the recording, counted from 1.
  public let exchange: Int
  /// The method and the URL of the exchange, as recorded.
  public let request: String
  /// The kind of difference.
  public let kind: Kind
  /// The path in the response body at which the difference was found. If the difference was found at several paths that
  /// differ only in array indices, the value is the first of these paths.
  public let path: JSONPath
  /// The difference as an English phrase, such as `the key "nick" is missing`.
  public let reason: String
  /// The number of paths in the response body at which this difference was found.
  public let count: Int
}

extension RecordingDifference: CustomStringConvertible {
  /// One line, such as `exchange 2, GET https://h.example/users: $.users[0].nick: the key "nick" is missing (3 times)`.
  public var description: String {
    "exchange \(exchange), \(request): \(path): \(reason)\(count > 1 ? " (\(count) times)" : "")"
  }
}

/// The differences between the responses of a recording and the types that requests decode now.
public struct RecordingDifferences: Sendable, Hashable {
  /// The differences, in the order of the exchanges.
  public var all: [RecordingDifference] = []
  /// The numbers of the exchanges, counted from 1, that match none of the given requests. These exchanges were not
  /// compared.
  public var uncompared: [Int] = []

  /// Whether ``all`` is empty. Exchanges that were not compared do not count as differences.
  public var isEmpty: Bool { all.isEmpty }
}

extension RecordingDifferences: CustomStringConvertible {
  /// One line for each difference, and a line for the exchanges that were not compared.
  public var description: String {
    let rest =
      uncompared.isEmpty ? [] : ["not compared: exchange \(uncompared.map(String.init).joined(separator: ", "))"]
    return (all.isEmpty ? ["no difference"] + rest : all.map(\.description) + rest).joined(separator: "\n")
  }
}
