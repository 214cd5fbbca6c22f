import ErrandHTTP

/// The abilities of URLSession on a platform. They are a value, so that tests can check the behaviour for every
/// platform on any platform.
struct SessionPlatform: Sendable, Equatable {
  /// The capabilities of ``URLSessionTransport`` on this platform.
  let capabilities: TransportCapabilities
  /// The content codings that URLSession decodes.
  let contentCodings: [String]
  /// Whether URLSession itself resends a request if a reused connection breaks, even if the method is not idempotent.
  /// If so, the library uses a new session for each request that must not be repeated. A new session has no connections
  /// to reuse.
  let resendsByItself: Bool
  /// Whether URLSession removes the segments `.` and `..` from paths before it sends a request.
  let resolvesDots: Bool
  /// Whether the library must check that the end of each response body is clear. True if URLSession does not check
  /// this.
  let checksFraming: Bool
  /// Whether URLSession ends the process if the completion handler of a redirect is called after the task was
  /// cancelled.
  let crashesOnLateCompletion: Bool
  /// Whether an exchange never ends after a response with status 401, if URLSession handles the authentication
  /// challenge in its default way.
  let hangsOnStatus401: Bool
  /// Whether URLSession supports the settings for proxies, TLS and certificates.
  let takesProxyAndTLS: Bool
  /// Whether the tasks of a session can wait until there is a network connection.
  let waitsForConnectivity: Bool

  /// URLSession of the open-source Foundation on Linux, which uses libcurl.
  static let linux = SessionPlatform(
    capabilities: [.progress, .observesStop, .bodySource], contentCodings: ["gzip"], resendsByItself: true,
    resolvesDots: true, checksFraming: true, crashesOnLateCompletion: true, hangsOnStatus401: true,
    takesProxyAndTLS: false,
    waitsForConnectivity: false)

  /// URLSession on Apple platforms.
  static let apple = SessionPlatform(
    capabilities: [
      .progress, .observesStop, .bodySource, .bodySink, .http2, .proxy, .metrics, .networkKind,
    ], contentCodings: ["gzip"], resendsByItself: false, resolvesDots: false, checksFraming: false,
    crashesOnLateCompletion: false, hangsOnStatus401: false, takesProxyAndTLS: true, waitsForConnectivity: true)

  /// The platform for which this code is compiled.
  static var current: SessionPlatform {
    #if canImport(Darwin)
      apple
    #else
      linux
    #endif
  }
}
