import ErrandHTTP

/// The abilities of URLSession on a platform. They are a value, so that tests can check the behaviour for every
/// platform on any platform.
struct SessionPlatform: Sendable, Equatable {
  /// The capabilities of ``URLSessionTransport`` on this platform.
  let capabilities: TransportCapabilities
  /// The content codings that URLSession decodes.
  let contentCodings: [String]
  /// Whether URLSession itself resends a request if a reused connection breaks, even if the method is not idempotent.
  /// In that case, a request that must not be repeated is sent by a new session, which has no connections to reuse.
  let resendsByItself: Bool
  /// Whether URLSession removes the segments `.` and `..` from paths before it sends a request.
  let resolvesDots: Bool
  /// Whether the library must check the framing of responses. True if URLSession does not check it.
  let checksFraming: Bool
  /// Whether URLSession ends the process if the completion handler of a redirect is called after the task was
  /// cancelled.
  let diesOfLateAnswers: Bool
  /// Whether a response with status 401 causes an authentication challenge that never ends if the platform handles it.
  let asksInsteadOfEnding: Bool
  /// Whether URLSession supports the settings for the proxy and the TLS version.
  let takesProxyAndTLS: Bool
  /// Whether a session can wait until there is a network connection.
  let waitsForConnectivity: Bool

  /// URLSession of the open-source Foundation on Linux, which uses libcurl.
  static let linux = SessionPlatform(
    capabilities: [.progress, .observesStop, .bodySource], contentCodings: ["gzip"], resendsByItself: true,
    resolvesDots: true, checksFraming: true, diesOfLateAnswers: true, asksInsteadOfEnding: true,
    takesProxyAndTLS: false,
    waitsForConnectivity: false)

  /// URLSession on Apple platforms.
  static let apple = SessionPlatform(
    capabilities: [
      .progress, .observesStop, .bodySource, .bodySink, .http2, .proxy, .metrics, .networkKind,
    ], contentCodings: ["gzip"], resendsByItself: false, resolvesDots: false, checksFraming: false,
    diesOfLateAnswers: false, asksInsteadOfEnding: false, takesProxyAndTLS: true, waitsForConnectivity: true)

  /// The platform for which this code is compiled.
  static var current: SessionPlatform {
    #if canImport(Darwin)
      apple
    #else
      linux
    #endif
  }
}
