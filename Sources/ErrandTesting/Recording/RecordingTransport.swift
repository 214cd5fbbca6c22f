public import ErrandCore
import Foundation

/// Stands in front of another transport and keeps what goes over it, for a ``ReplayTransport`` to answer from.
///
/// ```swift
/// let recorder = RecordingTransport(CurlTransport(), mask: RecordingMask(paths: ["user.email"]))
/// configuration.transport = .own(recorder)
/// …
/// try recorder.save(to: "Recordings/users.json")
/// ```
///
/// It changes nothing of what it sees, can do what the other one can, and passes on every pause, cancel and error.
/// What came is held in memory and written as a whole by ``save(to:)``: only at the end is it known which values are
/// secret everywhere, and a run that fails half-way leaves the recording of the one before.
///
/// Exchanges stand in the order in which they began. Those that a cancel, the deadline or a sink ended are left out,
/// and so are those that go on. A file that the other transport must have whole is read once the exchange has ended;
/// where it is another one by then, the exchange is left out, too.
public final class RecordingTransport: Transport {
  private let base: any Transport
  private let mask: RecordingMask
  private let bodyLimit: Int
  private let book = RecordingBook()

  /// Makes a recorder.
  /// - Parameters:
  ///   - base: The transport that does the work.
  ///   - mask: What is left out, beside what looks like a secret.
  ///   - bodyLimit: How many bytes of each body are kept at most. A longer one passes as ever, and ``recording()`` and
  ///     ``save(to:)`` then say which it was.
  public init(_ base: any Transport, mask: RecordingMask = RecordingMask(), bodyLimit: Int = 8 << 20) {
    self.base = base
    self.mask = mask
    self.bodyLimit = bodyLimit
    LeakCheck.current?.watch(self, "RecordingTransport")
  }

  /// Those of the transport behind it.
  public var capabilities: TransportCapabilities { base.capabilities }
  /// Those of the transport behind it.
  public var contentCodings: [String] { base.contentCodings }
  /// Those of the transport behind it.
  public var timers: (any Timers)? { base.timers }
  /// That of the base.
  public var identity: String? { base.identity }

  /// Sends by the transport behind it, and keeps what came.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let number = book.begin()
    let tap = ExchangeTap(exchange, bodyLimit: bodyLimit, base.capabilities)
    do {
      let response = try await base.send(tap.exchange)
      book.end(number, tap.recorded(response))
      return response
    } catch {
      if let failure = error as? TransportFailure { book.end(number, tap.recorded(failure)) }
      throw error
    }
  }

  /// What has been recorded so far, masked.
  /// - Throws: ``RecordingError/tooLarge(request:limit:)``.
  public func recording() throws(RecordingError) -> Recording {
    let ended = book.ended
    if let large = ended.first(where: \.isTooLarge) {
      throw RecordingError.tooLarge(request: large.exchange.request.description, limit: bodyLimit)
    }
    return Masking.recording(of: ended.map(\.exchange), by: mask)
  }

  /// Writes what has been recorded so far, masked, in the place of what the file held.
  /// - Throws: ``RecordingError``.
  public func save(to path: String) throws(RecordingError) { try recording().save(to: path) }
}
