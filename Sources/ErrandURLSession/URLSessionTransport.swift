public import ErrandCore
import ErrandSupport
import Foundation

/// The transport on URLSession: the one of Apple platforms, and a second one on Linux.
///
/// Redirects, retries, cookies and the cache stay Errand's. What it can do differs: ``capabilities`` says so, and a call
/// that needs more fails before anything is sent. On Linux some answers that break off end the whole process, within
/// Foundation: take it there for servers that you trust, and for trying things out.
///
/// ```swift
/// client.configure { $0.transport = .urlSession }
/// ```
public final class URLSessionTransport: Transport {
  /// Its name in the registry.
  public static let name = "urlsession"

  private struct State: Sendable {
    var settings: URLSessionSettings
    var shared: SessionHolder
    /// The session whose tasks wait for a network; made when it is first needed.
    var waiting: SessionHolder?
  }

  private let platform: SessionPlatform
  private let lanes = SessionLanes()
  private let state: Locked<State>

  /// Makes a transport with the standard settings.
  public convenience init() { self.init(unchecked: URLSessionSettings(), .current) }

  /// Makes a transport.
  /// - Throws: ``URLSessionSettings/Invalid`` where the platform cannot honour a setting.
  public convenience init(_ settings: URLSessionSettings) throws(URLSessionSettings.Invalid) {
    try settings.validate(on: .current)
    self.init(unchecked: settings, .current)
  }

  /// Makes one as for a platform, its settings taken as they are.
  init(unchecked settings: URLSessionSettings, _ platform: SessionPlatform) {
    self.platform = platform
    state = Locked(State(settings: settings, shared: SessionHolder(settings, platform, lanes: lanes)))
  }

  /// How it reaches servers.
  public var settings: URLSessionSettings { state.withLock { $0.settings } }

  /// Changes how it reaches servers. Exchanges that run keep what they began with; each later one has connections that
  /// know the new setting only.
  /// - Throws: ``URLSessionSettings/Invalid`` where the platform cannot honour a setting; nothing has changed then.
  public func update(_ settings: URLSessionSettings) throws(URLSessionSettings.Invalid) {
    guard settings != self.settings else { return }
    try settings.validate(on: platform)
    let new = State(settings: settings, shared: SessionHolder(settings, platform, lanes: lanes))
    let old = state.withLock { state in
      let old = state
      state = new
      return old
    }
    _ = old  // released here, outside the lock
  }

  /// On Apple platforms all but informational answers, trailers and bodies that are read while they are sent. On Linux
  /// progress and bodies from files.
  public var capabilities: TransportCapabilities { platform.capabilities }

  /// gzip.
  public var contentCodings: [String] { platform.contentCodings }

  /// Sends the request and brings the answer, whatever its status.
  /// - Throws: ``ErrandCore/TransportFailure``, ``ErrandCore/CallState/Stopped``, or what the exchange's sink threw.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let order = try SessionOrder(exchange, platform)
    let holder = holder(for: exchange)
    let run = SessionExchange(exchange, lanes: lanes)
    try await exchange.call.wait(asking: { run.stop($0) }) { wakeup in
      run.begin(wakeup) { holder.task(for: order, run) }
    }
    return try withExtendedLifetime(holder) { try run.outcome() }
  }

  /// What has to go when the transport does, for tests.
  var watched: [any AnyObject & Sendable] { state.withLock { [$0.shared] + $0.shared.watched } }

  /// The session that carries an exchange.
  func holder(for exchange: Exchange) -> SessionHolder {
    if platform.resendsByItself, !mayBeSentTwice(exchange) {
      return SessionHolder(settings, platform, lanes: lanes)
    }
    let waits = platform.waitsForConnectivity && exchange.network.waitsForConnectivity
    return state.withLock { state in
      guard waits else { return state.shared }
      let holder = state.waiting ?? SessionHolder(state.settings, platform, lanes: lanes, waits: true)
      state.waiting = holder
      return holder
    }
  }

  private func mayBeSentTwice(_ exchange: Exchange) -> Bool {
    exchange.mayBeRepeated ?? (exchange.request.method == .get || exchange.request.method == .head)
  }
}

extension TransportChoice {
  /// URLSession, by its name in the shared registry; registered there by the first use, unless somebody has done so.
  public static var urlSession: TransportChoice {
    TransportRegistry.shared.register(URLSessionTransport.name, replacing: false) { URLSessionTransport() }
    return .named(URLSessionTransport.name)
  }
}
