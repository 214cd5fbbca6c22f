import ErrandHTTP

/// The abilities of URLSession on a platform. They are a value, so that tests can check the behaviour for every
/// platform on any platform.
struct SessionPlatform: Sendable, Equatable {
  /// Which requests URLSession itself resends if a reused connection breaks.
  enum Resending: Sendable, Equatable {
    case none
    /// Requests whose method is idempotent (RFC 9110 section 9.2.2).
    case idempotent
    case all

    /// Whether URLSession may resend a request with this method.
    func includes(_ method: HTTPMethod) -> Bool {
      switch self {
      case .none: false
      case .idempotent: method.isIdempotent
      case .all: true
      }
    }
  }

  let capabilities: TransportCapabilities
  /// The content codings that URLSession decodes.
  let contentCodings: [String]
  /// Which requests URLSession resends by itself. The library uses a new session for each of these requests that must
  /// not be repeated. A new session has no connections to reuse.
  let resending: Resending
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
  /// Whether URLSession reports each part of a `multipart/x-mixed-replace` response as a response of its own.
  let splitsMixedReplace: Bool

  /// URLSession of the open-source Foundation on Linux, which uses libcurl.
  static let linux = SessionPlatform(
    capabilities: [.progress, .observesStop, .bodySource], contentCodings: ["gzip"], resending: .all,
    resolvesDots: true, checksFraming: true, crashesOnLateCompletion: true, hangsOnStatus401: true,
    takesProxyAndTLS: false, waitsForConnectivity: false, splitsMixedReplace: false)

  /// URLSession on Apple platforms. It resends idempotent requests (Apple's Technical Q&A QA1941).
  static let apple = SessionPlatform(
    capabilities: [
      .progress, .observesStop, .bodySource, .bodySink, .http2, .proxy, .metrics, .networkKind,
    ], contentCodings: ["gzip"], resending: .idempotent, resolvesDots: false,
    checksFraming: false, crashesOnLateCompletion: false, hangsOnStatus401: false, takesProxyAndTLS: true,
    waitsForConnectivity: true, splitsMixedReplace: true)

  static var current: SessionPlatform {
    #if canImport(Darwin)
      apple
    #else
      linux
    #endif
  }
}
