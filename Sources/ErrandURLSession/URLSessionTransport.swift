public import ErrandHTTP
import ErrandSupport
import Foundation

/// The transport that sends requests with URLSession. It is meant for Apple platforms, and is an alternative on Linux.
///
/// Errand still handles redirects, retries, cookies and the cache. The platforms differ in their ``capabilities``. A
/// call that needs a missing capability fails before anything is sent.
///
/// The connect time-out of a call has no effect: URLSession does not report when a connection is established. If it
/// cannot connect, the idle time-out ends the exchange, which counts from the start of the exchange.
///
/// On Linux, Foundation ends the whole process on some responses whose transfer is interrupted. Use this transport on
/// Linux only with servers that you trust, and for experiments.
///
/// ```swift
/// client.configure { $0.transport = .urlSession }
/// ```
public final class URLSessionTransport: Transport {
  /// The name of this transport in the transport registry: "urlsession".
  public static let name = "urlsession"

  private struct State: Sendable {
    let setup: SessionSetup
    var shared: SessionHolder
    /// The session whose tasks wait for a network connection; nil until such a session is needed.
    var waiting: SessionHolder?
    let identity: String?

    init(setup: SessionSetup, shared: SessionHolder) {
      self.setup = setup
      self.shared = shared
      identity = ClientCertificate.identity(of: setup.settings.clientCertificates)
    }
  }

  private let platform: SessionPlatform
  private let queues = SessionQueues()
  private let state: Locked<State>
  /// Locked while the settings change, so that two changes at the same time do not overwrite each other.
  private let changing = Locked(())

  /// Creates a transport with the default settings.
  public convenience init() {
    self.init(SessionSetup(settings: URLSessionSettings(), trust: .standard, platform: .current))
  }

  /// Creates a transport.
  /// - Throws: ``URLSessionSettings/Invalid`` if the platform does not support a setting.
  public convenience init(_ settings: URLSessionSettings) throws(URLSessionSettings.Invalid) {
    self.init(try SessionSetup(settings, .current))
  }

  /// Creates a transport from settings that were already checked. The setup also names the platform.
  init(_ setup: SessionSetup) {
    platform = setup.platform
    state = Locked(State(setup: setup, shared: SessionHolder(setup, queues: queues)))
  }

  /// The settings with which this transport reaches servers.
  public var settings: URLSessionSettings { state.withLock { $0.setup.settings } }

  /// Changes how this transport reaches servers. Running exchanges keep the old settings. Later exchanges use only
  /// connections that were opened with the new settings.
  ///
  /// The system may resume the TLS sessions of earlier connections of the process (Apple's Technical Q&A QA1727). So a
  /// new client certificate is certain only for connections that make a full handshake.
  /// - Throws: ``URLSessionSettings/Invalid`` if the platform does not support a setting. In this case the old settings
  ///   stay in use.
  public func update(_ settings: URLSessionSettings) throws(URLSessionSettings.Invalid) {
    try changing.withLock { _ throws(URLSessionSettings.Invalid) in
      if settings != self.settings { try replace(by: settings) }
    }
  }

  /// Reads the files of authorities and client certificates again, for example after a renewal. Running exchanges keep
  /// the old certificates. Later exchanges use only connections that were opened with the new certificates. The
  /// limitation for resumed TLS sessions is the same as for ``update(_:)``.
  /// - Throws: ``URLSessionSettings/Invalid`` if a file cannot be used. In this case the old certificates stay in use.
  public func reload() throws(URLSessionSettings.Invalid) {
    try changing.withLock { _ throws(URLSessionSettings.Invalid) in try replace(by: settings) }
  }

  /// A digest of the client certificates; nil if there are none. ``update(_:)`` and ``reload()`` may change the digest.
  public var identity: String? { state.withLock { $0.identity } }

  private func replace(by settings: URLSessionSettings) throws(URLSessionSettings.Invalid) {
    let setup = try SessionSetup(settings, platform)
    let new = State(setup: setup, shared: SessionHolder(setup, queues: queues))
    let old = state.withLock { state in
      let old = state
      state = new
      return old
    }
    _ = old  // the old state is released here, outside the lock
  }

  /// The capabilities of this transport. On Apple platforms it has all capabilities except informational responses and
  /// trailers. On Linux it supports progress reports and request bodies of every kind.
  ///
  /// URLSession sends bytes or a file. So a body that another transport would read while sending is read to its end
  /// before the first byte is sent. If such a body has more than 256 KiB, it is written to a file in the temporary
  /// folder. Only the user can access this file, and it is removed after the exchange.
  public var capabilities: TransportCapabilities { platform.capabilities }

  /// The content codings that URLSession decodes: gzip.
  public var contentCodings: [String] { platform.contentCodings }

  /// Sends the request and returns the response. A response with an error status is not an error.
  /// - Throws: ``ErrandHTTP/TransportFailure``, ``ErrandHTTP/CallState/Stopped``, or an error of the exchange's sink.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let order = try SessionOrder(exchange, platform)
    let upload = try await SessionUpload(order.body, for: exchange.call)
    let holder = holder(for: exchange)
    let run = SessionExchange(exchange, sending: upload.copiedLength, queues: queues)
    try await exchange.call.wait(asking: { run.stop($0) }) { wakeup in
      run.begin(wakeup) { holder.task(for: order, upload, run) }
    }
    return try withExtendedLifetime((holder, upload)) { try run.outcome() }
  }

  /// Objects of this transport's session. Tests check that these objects are released together with the transport.
  var watched: [any AnyObject & Sendable] { state.withLock { [$0.shared] + $0.shared.watched } }

  /// The session that sends an exchange. If URLSession might resend a request that must not be repeated, the request
  /// gets a new session, which has no connections to reuse.
  func holder(for exchange: Exchange) -> SessionHolder {
    let waits = platform.waitsForConnectivity && exchange.network.waitsForConnectivity
    if platform.resending.includes(exchange.request.method), !exchange.isRepeatable {
      return SessionHolder(state.withLock { $0.setup }, queues: queues, waits: waits)
    }
    return state.withLock { state in
      guard waits else { return state.shared }
      let holder = state.waiting ?? SessionHolder(state.setup, queues: queues, waits: true)
      state.waiting = holder
      return holder
    }
  }
}

extension SessionSetup {
  /// Checks the settings. Throws if the platform does not support a setting.
  init(_ settings: URLSessionSettings, _ platform: SessionPlatform) throws(URLSessionSettings.Invalid) {
    try settings.validate(on: platform)
    let trust = try SessionTrust(settings) { identity in
      #if canImport(Darwin)
        identity.credential != nil
      #else
        true
      #endif
    }
    self.init(settings: settings, trust: trust, platform: platform)
  }
}

extension TransportChoice {
  /// Chooses the URLSession transport by its name in the shared registry. The first use registers the transport, unless
  /// the name is already registered.
  public static var urlSession: TransportChoice {
    TransportRegistry.shared.register(URLSessionTransport.name, replacing: false) { URLSessionTransport() }
    return .named(URLSessionTransport.name)
  }
}
