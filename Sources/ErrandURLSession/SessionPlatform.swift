import ErrandHTTP

/// What URLSession can do on a platform. A value, so that both are tested wherever the tests run.
struct SessionPlatform: Sendable, Equatable {
  /// What the transport declares.
  let capabilities: TransportCapabilities
  /// The content codings that URLSession undoes.
  let contentCodings: [String]
  /// Whether a request is sent again without asking where a kept connection dies, whatever its method. Then one that
  /// must not be repeated gets a session of its own, in which there is no kept connection.
  let resendsByItself: Bool
  /// Whether dots in paths are resolved before they are sent.
  let resolvesDots: Bool
  /// Whether the framing of answers is taken on trust, so that it is looked at here.
  let checksFraming: Bool
  /// Whether an answer to the question about a redirect ends the process once the task is cancelled.
  let diesOfLateAnswers: Bool
  /// Whether a 401 ends with a question that, left to the platform, never comes to an end.
  let asksInsteadOfEnding: Bool
  /// Whether the proxy can be chosen, and the version of TLS.
  let takesProxyAndTLS: Bool
  /// Whether a session waits for a network when it is told to.
  let waitsForConnectivity: Bool

  /// Foundation of swift.org, on libcurl.
  static let linux = SessionPlatform(
    capabilities: [.progress, .observesStop, .bodySource], contentCodings: ["gzip"], resendsByItself: true,
    resolvesDots: true, checksFraming: true, diesOfLateAnswers: true, asksInsteadOfEnding: true,
    takesProxyAndTLS: false,
    waitsForConnectivity: false)

  /// The system's own.
  static let apple = SessionPlatform(
    capabilities: [
      .progress, .observesStop, .bodySource, .bodySink, .http2, .proxy, .metrics, .networkKind,
    ], contentCodings: ["gzip"], resendsByItself: false, resolvesDots: false, checksFraming: false,
    diesOfLateAnswers: false, asksInsteadOfEnding: false, takesProxyAndTLS: true, waitsForConnectivity: true)

  /// The one that this was built for.
  static var current: SessionPlatform {
    #if canImport(Darwin)
      apple
    #else
      linux
    #endif
  }
}
