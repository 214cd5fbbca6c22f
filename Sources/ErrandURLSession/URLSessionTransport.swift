public import ErrandHTTP
import ErrandSupport
import Foundation

/// The transport on URLSession: the one of Apple platforms, and a second one on Linux.
///
/// Redirects, retries, cookies and the cache stay Errand's. What it can do differs: ``capabilities`` says so, and a
/// call that needs more fails before anything is sent. On Linux some answers that break off end the whole process,
/// within Foundation: take it there for servers that you trust, and for trying things out.
///
/// ```swift
/// client.configure { $0.transport = .urlSession }
/// ```
public final class URLSessionTransport: Transport {
  /// Its name in the registry.
  public static let name = "urlsession"

  private struct State: Sendable {
    let setup: SessionSetup
    var shared: SessionHolder
    /// The session whose tasks wait for a network; made when it is first needed.
    var waiting: SessionHolder?
    let identity: String?

    init(setup: SessionSetup, shared: SessionHolder) {
      self.setup = setup
      self.shared = shared
      identity = ClientCertificate.identity(of: setup.settings.clientCertificates)
    }
  }

  private let platform: SessionPlatform
  private let lanes = SessionLanes()
  private let state: Locked<State>
  /// Held while the setting is changed, so that no change undoes another one.
  private let changing = Locked(())

  /// Makes a transport with the standard settings.
  public convenience init() {
    self.init(SessionSetup(settings: URLSessionSettings(), trust: .standard, platform: .current))
  }

  /// Makes a transport.
  /// - Throws: ``URLSessionSettings/Invalid`` where the platform cannot honour a setting.
  public convenience init(_ settings: URLSessionSettings) throws(URLSessionSettings.Invalid) {
    self.init(try SessionSetup(settings, .current))
  }

  /// Makes one as for a platform.
  init(_ setup: SessionSetup) {
    platform = setup.platform
    state = Locked(State(setup: setup, shared: SessionHolder(setup, lanes: lanes)))
  }

  /// How it reaches servers.
  public var settings: URLSessionSettings { state.withLock { $0.setup.settings } }

  /// Changes how it reaches servers. Exchanges that run keep what they began with; each later one has connections that
  /// know the new setting only.
  /// - Throws: ``URLSessionSettings/Invalid`` where the platform cannot honour a setting; nothing has changed then.
  public func update(_ settings: URLSessionSettings) throws(URLSessionSettings.Invalid) {
    try changing.withLock { _ throws(URLSessionSettings.Invalid) in
      if settings != self.settings { try replace(by: settings) }
    }
  }

  /// Reads the files of authorities and client certificates again, such as after one was renewed. Exchanges that run
  /// keep what they began with; no later one uses a connection that was made under the former trust.
  /// - Throws: ``URLSessionSettings/Invalid`` where a file cannot be used; nothing has changed then.
  public func reload() throws(URLSessionSettings.Invalid) {
    try changing.withLock { _ throws(URLSessionSettings.Invalid) in try replace(by: settings) }
  }

  /// A digest of the client certificates; nil if there are none. It changes by ``update(_:)`` and ``reload()``.
  public var identity: String? { state.withLock { $0.identity } }

  private func replace(by settings: URLSessionSettings) throws(URLSessionSettings.Invalid) {
    let setup = try SessionSetup(settings, platform)
    let new = State(setup: setup, shared: SessionHolder(setup, lanes: lanes))
    let old = state.withLock { state in
      let old = state
      state = new
      return old
    }
    _ = old  // released here, outside the lock
  }

  /// On Apple platforms all but informational answers and trailers. On Linux progress and bodies of every kind.
  ///
  /// URLSession takes bytes or a file: a body that libcurl reads while it is sent is read to its end here before the
  /// first byte goes out. From 256 KiB on it goes by way of a file in the temporary folder, of the user alone, that is
  /// removed when the exchange is over.
  public var capabilities: TransportCapabilities { platform.capabilities }

  /// gzip.
  public var contentCodings: [String] { platform.contentCodings }

  /// Sends the request and brings the answer, whatever its status.
  /// - Throws: ``ErrandHTTP/TransportFailure``, ``ErrandHTTP/CallState/Stopped``, or what the exchange's sink threw.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let order = try SessionOrder(exchange, platform)
    let upload = try await SessionUpload(order.body, for: exchange.call)
    let holder = holder(for: exchange)
    let run = SessionExchange(exchange, sending: upload.copiedLength, lanes: lanes)
    try await exchange.call.wait(asking: { run.stop($0) }) { wakeup in
      run.begin(wakeup) { holder.task(for: order, upload, run) }
    }
    return try withExtendedLifetime((holder, upload)) { try run.outcome() }
  }

  /// What has to go when the transport does, for tests.
  var watched: [any AnyObject & Sendable] { state.withLock { [$0.shared] + $0.shared.watched } }

  /// The session that carries an exchange.
  func holder(for exchange: Exchange) -> SessionHolder {
    if platform.resendsByItself, !mayBeSentTwice(exchange) {
      return SessionHolder(state.withLock { $0.setup }, lanes: lanes)
    }
    let waits = platform.waitsForConnectivity && exchange.network.waitsForConnectivity
    return state.withLock { state in
      guard waits else { return state.shared }
      let holder = state.waiting ?? SessionHolder(state.setup, lanes: lanes, waits: true)
      state.waiting = holder
      return holder
    }
  }

  private func mayBeSentTwice(_ exchange: Exchange) -> Bool {
    exchange.handling.mayBeRepeated ?? (exchange.request.method == .get || exchange.request.method == .head)
  }
}

extension SessionSetup {
  /// Throws where a platform cannot honour a setting.
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
  /// URLSession, by its name in the shared registry; registered there by the first use, unless somebody has done so.
  public static var urlSession: TransportChoice {
    TransportRegistry.shared.register(URLSessionTransport.name, replacing: false) { URLSessionTransport() }
    return .named(URLSessionTransport.name)
  }
}
