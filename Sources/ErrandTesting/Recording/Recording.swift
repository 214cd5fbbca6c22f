public import ErrandCore
import ErrandJSON
public import Foundation

/// What went over a transport, in the order in which it was asked: a value, and a file that can be read and edited.
///
/// A ``RecordingTransport`` makes one, a ``ReplayTransport`` answers from it:
///
/// ```swift
/// try recorder.save(to: "Recordings/users.json")
/// let replay = ReplayTransport(try Recording(contentsOf: "Recordings/users.json"))
/// ```
///
/// What is edited, in the file or here, is replayed as it was edited.
public struct Recording: Sendable {
  /// The exchanges in the order in which they began.
  public var exchanges: [RecordedExchange]
  /// What was left out when it was written. A replay leaves the same out of what it compares.
  public var mask: RecordingMask

  /// Makes a recording of exchanges, which are taken as they are.
  public init(_ exchanges: [RecordedExchange] = [], mask: RecordingMask = RecordingMask()) {
    self.exchanges = exchanges
    self.mask = mask
  }

  /// Reads a file.
  /// - Throws: ``RecordingError``: no such file, damaged, or of a newer version.
  public init(contentsOf path: String) throws(RecordingError) {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw RecordingError.unreadable(path: path, reason: RecordingError.reason(error))
    }
    try self.init(parsing: data, from: path)
  }

  /// Reads the bytes of a file; `name` is what errors call it.
  /// - Throws: ``RecordingError``: damaged, or of a newer version.
  public init(parsing data: Data, from name: String = "the recording") throws(RecordingError) {
    self = try RecordingFile.recording(in: data, named: name)
  }

  /// Writes a file, and the folders above it where they are missing.
  ///
  /// It is written beside and then renamed: whoever reads meanwhile, or after this was killed, finds the old file or
  /// the new one, whole.
  /// - Throws: ``RecordingError/unwritable(path:reason:)``; the old file is left as it was.
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

  /// The bytes of the file.
  public func serialized() throws -> Data { try RecordingFile(self).serialized() }
}

extension Recording {
  /// Compares recorded answers with the types of today: what has changed since the recording.
  ///
  /// Each answer is read as the client would read it: by the request's rules for JSON, at its envelope's place, and as
  /// its `ErrorBody` where the status or the business code is refused. Nothing is sent. Answers that are not read from
  /// JSON, recorded failures, and answers without a body have nothing to compare.
  ///
  /// ```swift
  /// let differences = try await recording.differences(from: client, GetUser(id: 7), GetNews())
  /// #expect(differences.isEmpty, "\(differences)")
  /// ```
  ///
  /// - Parameters:
  ///   - client: The client whose rules count.
  ///   - requests: Requests of the types to compare with. An exchange is compared with the first that asks for it.
  ///   - parts: What must be the same for a request to ask for an exchange.
  /// - Throws: `APIError` where a request cannot be built.
  public func differences<each R: APIRequest>(
    from client: APIClient, _ requests: repeat each R, matching parts: [RequestPart] = [.method, .path]
  ) async throws(APIError) -> RecordingDifferences {
    var readings: [AnswerReading] = []
    repeat readings.append(try await client.reading(of: each requests))
    return differences(from: readings, matching: parts)
  }

  private func differences(from readings: [AnswerReading], matching parts: [RequestPart]) -> RecordingDifferences {
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
    of exchange: RecordedExchange, number: Int, _ reading: AnswerReading
  ) -> [RecordingDifference] {
    let answer = exchange.answer
    guard answer.failure == nil, answer.breakage == nil, !answer.body.isEmpty else { return [] }
    let response = HTTPResponse(head: answer.head, body: answer.body, url: exchange.request.url)
    return reading.misfits(response).map { misfit in
      RecordingDifference(
        exchange: number, request: "\(exchange.request.method) \(exchange.request.url.string)",
        kind: RecordingDifference.Kind(misfit.kind), path: misfit.path, reason: misfit.reason, count: misfit.count)
    }
  }
}

extension RecordingDifference.Kind {
  fileprivate init(_ kind: JSONMisfit.Kind) {
    switch kind {
    case .notRead: self = .notRead
    case .missing: self = .missing
    case .otherType: self = .otherType
    case .unreadable: self = .unreadable
    }
  }
}
