public import ErrandCore
import ErrandSupport
import Foundation

/// Wraps another transport and records its exchanges, so that a ``ReplayTransport`` can respond from them.
///
/// ```swift
/// let recorder = RecordingTransport(EngineTransport(), mask: RecordingMask(paths: ["user.email"]))
/// configuration.transport = .own(recorder)
/// …
/// try recorder.save(to: "Recordings/users.json")
/// ```
///
/// The recorder passes the exchanges on unchanged. It has the capabilities of the wrapped transport, and forwards every
/// pause, cancellation and error.
///
/// The exchanges are kept in memory until ``save(to:)`` writes them all at once. Only then does the recorder know all
/// secret values that it must mask. Also, the file of an earlier recording stays unchanged if the run fails before
/// ``save(to:)``.
///
/// The recorded exchanges are in the order in which they began. These exchanges are omitted:
/// - exchanges that are still running;
/// - exchanges that ended by cancellation, by the deadline or by a local failure, such as an error of a sink;
/// - exchanges whose request body is a file that changed before the recorder read the file. If the wrapped transport
///   sends the body as a file, the recorder reads the file after the exchange.
public final class RecordingTransport: Transport {
  private let base: any Transport
  private let mask: RecordingMask
  private let bodyLimit: Int
  /// The exchanges in the order in which they began; nil for those that are running or not recorded.
  private let exchanges = Locked<[UnmaskedExchange?]>([])

  /// Creates a recording transport.
  /// - Parameters:
  ///   - base: The transport to wrap. It sends the requests.
  ///   - mask: The values to mask, in addition to the values whose names suggest a secret.
  ///   - bodyLimit: The maximum number of bytes to record of a body. A longer body is transferred normally, but
  ///     ``recording()`` and ``save(to:)`` then throw an error that names the request.
  public init(_ base: any Transport, mask: RecordingMask = RecordingMask(), bodyLimit: Int = 8 << 20) {
    self.base = base
    self.mask = mask
    self.bodyLimit = bodyLimit
    LeakCheck.current?.watch(self, "RecordingTransport")
  }

  /// The capabilities of the wrapped transport.
  public var capabilities: TransportCapabilities { base.capabilities }
  /// The content codings of the wrapped transport.
  public var contentCodings: [String] { base.contentCodings }
  /// The timers of the wrapped transport.
  public var timers: (any Timers)? { base.timers }
  /// The identity of the wrapped transport.
  public var identity: String? { base.identity }

  /// Sends the request with the wrapped transport and records the outcome.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let number = exchanges.withLock { exchanges in
      exchanges.append(nil)
      return exchanges.count - 1
    }
    let copier = ExchangeCopier(exchange, bodyLimit: bodyLimit, base.capabilities)
    do {
      let response = try await base.send(copier.exchange)
      let recorded = copier.recorded(response)
      exchanges.withLock { $0[number] = recorded }
      return response
    } catch {
      if let recorded = (error as? TransportFailure).flatMap(copier.recorded) {
        exchanges.withLock { $0[number] = recorded }
      }
      throw error
    }
  }

  /// The exchanges recorded so far, with secrets masked.
  /// - Throws: ``RecordingError/tooLarge(request:limit:)``.
  public func recording() throws(RecordingError) -> Recording {
    let ended = exchanges.withLock { $0.compactMap { $0 } }
    if let large = ended.first(where: \.isTooLarge) {
      throw RecordingError.tooLarge(request: large.exchange.request.description, limit: bodyLimit)
    }
    return Masking.recording(of: ended.map(\.exchange), by: mask)
  }

  /// Writes the exchanges recorded so far to a file, with secrets masked. An existing file is replaced.
  /// - Throws: ``RecordingError``.
  public func save(to path: String) throws(RecordingError) { try recording().save(to: path) }
}
