public import ErrandCore
import Foundation

/// Wraps another transport and records its exchanges, so that a ``ReplayTransport`` can respond from them.
///
/// ```swift
/// let recorder = RecordingTransport(CurlTransport(), mask: RecordingMask(paths: ["user.email"]))
/// configuration.transport = .own(recorder)
/// …
/// try recorder.save(to: "Recordings/users.json")
/// ```
///
/// The recorder does not change the exchanges. It has the capabilities of the base transport, and forwards every pause,
/// cancellation and error. The exchanges are kept in memory, and ``save(to:)`` writes them all at once. There are two
/// reasons: only at the end does the recorder know all secret values, and a run that fails keeps the recording of the
/// previous run.
///
/// The recorded exchanges are in the order in which they began. These exchanges are omitted:
/// - exchanges that are still running;
/// - exchanges that ended by cancellation, by the deadline or by a local failure, such as an error of a sink;
/// - exchanges whose request body the base transport sent as a file, if the file has changed before the exchange ended.
///   The recorder reads such a file after the exchange.
public final class RecordingTransport: Transport {
  private let base: any Transport
  private let mask: RecordingMask
  private let bodyLimit: Int
  private let book = RecordingBook()

  /// Creates a recorder.
  /// - Parameters:
  ///   - base: The transport that sends the requests.
  ///   - mask: The values to mask, in addition to the values whose names suggest a secret.
  ///   - bodyLimit: The maximum number of bytes to record of a body. A longer body is transferred normally, but
  ///     ``recording()`` and ``save(to:)`` then throw an error that names the request.
  public init(_ base: any Transport, mask: RecordingMask = RecordingMask(), bodyLimit: Int = 8 << 20) {
    self.base = base
    self.mask = mask
    self.bodyLimit = bodyLimit
    LeakCheck.current?.watch(self, "RecordingTransport")
  }

  /// The capabilities of the base transport.
  public var capabilities: TransportCapabilities { base.capabilities }
  /// The content codings of the base transport.
  public var contentCodings: [String] { base.contentCodings }
  /// The timers of the base transport.
  public var timers: (any Timers)? { base.timers }
  /// The identity of the base transport.
  public var identity: String? { base.identity }

  /// Sends the request with the base transport and records the outcome.
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

  /// The exchanges recorded so far, with secrets masked.
  /// - Throws: ``RecordingError/tooLarge(request:limit:)``.
  public func recording() throws(RecordingError) -> Recording {
    let ended = book.ended
    if let large = ended.first(where: \.isTooLarge) {
      throw RecordingError.tooLarge(request: large.exchange.request.description, limit: bodyLimit)
    }
    return Masking.recording(of: ended.map(\.exchange), by: mask)
  }

  /// Writes the exchanges recorded so far to a file, with secrets masked. An existing file is replaced.
  /// - Throws: ``RecordingError``.
  public func save(to path: String) throws(RecordingError) { try recording().save(to: path) }
}
