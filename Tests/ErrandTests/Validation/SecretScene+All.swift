import Errand
import ErrandHTTP
import ErrandTesting
import Foundation

extension SecretScene {
  static let building = [
    SecretScene(
      testDescription: "base with user info", code: .invalidURL,
      change: { $0.servers.current.baseURL = "http://u:\(marker)@h" }, isSent: false),
    SecretScene(
      testDescription: "broken base", code: .invalidURL,
      change: { $0.servers.current.baseURL = "http://u:\(marker)@h:0/?k=\(marker)" }, isSent: false),
    SecretScene(
      testDescription: "absolute path with user info", code: .invalidURL,
      request: { $0.path = RequestPath("http://u:" + marker + "@h/?k=" + marker) }, isSent: false),
    SecretScene(
      testDescription: "other scheme", code: .invalidURL,
      request: { $0.path = RequestPath("ftp://u:" + marker + "@h/?k=" + marker) }, isSent: false),
    SecretScene(
      testDescription: "line break in path", code: .invalidPath,
      request: { $0.path = RequestPath("/a\n?k=" + marker) }, isSent: false),
    SecretScene(
      testDescription: "dot segment", code: .invalidPath, request: { $0.path = "/a/\("..")/b?k=\(marker)" },
      isSent: false),
    SecretScene(testDescription: "method", code: .invalidMethod, request: { $0.method = "GE T" }, isSent: false),
    SecretScene(
      testDescription: "header value", code: .invalidHeader,
      request: { $0.headers = ["X-Key": .secret(marker + "\n")] }, isSent: false),
    SecretScene(
      testDescription: "framing", code: .invalidHeader, request: { $0.headers = ["Host": .secret(marker)] },
      isSent: false),
    SecretScene(
      testDescription: "argument", code: .invalidArgument, request: { $0.arguments["n"] = Double.nan }, isSent: false),
    SecretScene(
      testDescription: "body", code: .invalidBody,
      request: { $0.body = .json(Account(password: marker, rate: .nan)) }, isSent: false),
    SecretScene(
      testDescription: "check", code: .parameter, request: { $0.checking = { throw Leak() } }, isSent: false),
    SecretScene(
      testDescription: "interceptor", code: .interceptor,
      change: { $0.interceptors.calls = [Around { _, _, _ in throw Leak() }] }, isSent: false),
    SecretScene(
      testDescription: "an interceptor's own refusal", code: .admission,
      change: {
        $0.interceptors.calls = [Around { _, _, _ in throw APIError(.admission, .admission, "Not before noon.") }]
      },
      isSent: false),
    SecretScene(
      testDescription: "sink together with a shape", code: .unsupported, request: { $0.shape = [:] },
      options: CallOptions(bodySink: AwkwardSink()), isSent: false),
  ]

  /// Returns a credential with the marker, or fails.
  private struct Provider: RefreshingProvider {
    var fails = false
    var isUnreachable = false
    var credential = Credential.bearer(marker)
    var account: String? { "ada" }

    func credential(for account: String?) async throws -> Credential? {
      if fails { throw Leak() }
      return credential
    }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      guard isUnreachable else { throw Leak() }
      throw APIError.mapping(TransportFailure(.refused, "Nobody listens."), as: .transport)
    }
  }

  static let authorizing = [
    SecretScene(
      testDescription: "credential", code: .invalidHeader, request: { $0.credential = .bearer(marker + "\r\n") },
      isSent: false),
    SecretScene(
      testDescription: "provided credential", code: .invalidHeader,
      change: { $0.credentials = Provider(credential: .bearer(marker + "\r\n")) },
      request: { $0.credential = .inherited }, isSent: false),
    SecretScene(
      testDescription: "no credential", code: .noCredential, change: { $0.credentials = Provider(fails: true) },
      request: { $0.credential = .inherited }, isSent: false),
    SecretScene(
      testDescription: "refresh", code: .refreshFailed, change: { $0.credentials = Provider() },
      request: { $0.credential = .inherited },
      answer: { _ in .status(401, fields: ["WWW-Authenticate": "Bearer", "Set-Cookie": marker]) }),
    SecretScene(
      testDescription: "refresh out of reach", code: .refreshUnavailable,
      change: { $0.credentials = Provider(isUnreachable: true) }, request: { $0.credential = .inherited },
      answer: { _ in .status(401) }),
    SecretScene(
      testDescription: "cache alone", code: .cacheMiss, change: { $0.cache.policy = .lifetime(.seconds(60)) },
      options: .cache(.cacheOnly), isSent: false),
  ]

  private static let kinds: [TransportFailure.Kind] = [
    .offline, .nameLookup, .refused, .connectTimeout, .idleTimeout, .tls, .proxy, .closedBeforeResponse, .reset,
    .truncated, .malformedResponse, .tooLarge, .undecodableContent, .http2, .sink, .bodySource, .bodyChanged,
    .unsupported, .certificateExpired, .certificateNotYetValid, .certificateSelfSigned, .unknownAuthority, .wrongHost,
    .pinMismatch, .tlsVersion, .clientCertificateRequired, .clientCertificateRefused, .proxyCredentials,
    .forbiddenAddress, .other,
  ]

  /// Passes the deadline of its scene after the request is sent.
  private static let clock = ManualClock()

  static let sending =
    kinds.map { kind in
      SecretScene(
        testDescription: "transport: \(kind)", code: APIError.Code(rawValue: kind.rawValue),
        answer: { _ in .failure(kind) })
    } + [
      SecretScene(
        testDescription: "transport's error", code: APIError.Code(rawValue: "other"), answer: { _ in throw Leak() }),
      SecretScene(
        testDescription: "attempts used up", code: .status,
        change: { $0.retries = RetryPolicy(attempts: 3, firstDelay: .zero, busyDelay: .zero) },
        request: { $0.method = .put },
        answer: { _ in .status(503, fields: ["Set-Cookie": marker, "Retry-After": "0"]) }),
      SecretScene(
        testDescription: "open circuit", code: .circuitOpen,
        change: { configuration in
          configuration.servers.breaker = BreakerRule()
          configuration.servers.breaker?.least = 1
          configuration.interceptors.calls = [
            Around { request, _, next in
              _ = try await next(request)
              return try await next(request)
            }
          ]
        },
        request: { $0.method = .put }, answer: { _ in .status(503, fields: ["Set-Cookie": marker]) }),
      SecretScene(
        testDescription: "deadline", code: .deadline, change: { $0.timers = clock },
        answer: { _ in
          clock.advance(by: .milliseconds(30))
          try await Latch().wait()
          return .text("never")
        }, options: .deadline(.after(.milliseconds(30)))),
      SecretScene(testDescription: "cancelled", code: .cancelled, answer: { _ in throw CancellationError() }),
    ]

  static let redirecting = [
    SecretScene(
      testDescription: "redirect away", code: .redirectRefused,
      answer: { _ in .redirect(to: "http://u:\(marker)@o/?k=\(marker)", status: 307) }),
    SecretScene(
      testDescription: "redirect to nowhere", code: .invalidRedirect,
      answer: { _ in .redirect(to: "ftp://u:\(marker)@o/?k=\(marker)") }),
    SecretScene(
      testDescription: "redirect in a circle", code: .redirectLoop,
      answer: { _ in .redirect(to: "?k=\(marker)", status: 307) }),
    SecretScene(
      testDescription: "too many redirects", code: .tooManyRedirects,
      answer: { .redirect(to: "\($0.url.path)x?k=\(marker)#\(marker)", status: 307) }),
  ]

  static let judging = [
    SecretScene(testDescription: "status", code: .status, answer: { _ in .text("no \(marker)", status: 500) }),
    SecretScene(
      testDescription: "status with fields", code: .status,
      answer: { _ in
        .status(403, fields: ["Set-Cookie": "sid=\(marker)", "Location": "/?code=\(marker)", "Age": "1"])
      }),
    SecretScene(
      testDescription: "content type", code: .contentType, request: { $0.contentTypes = ["application/json"] }),
    SecretScene(
      testDescription: "no JSON", code: .notJSON, request: { $0.shape = [:] }, answer: { _ in .text("<\(marker)>") }),
    SecretScene(
      testDescription: "shape", code: .shape, request: { $0.shape = ["token": .number] },
      answer: { _ in .json(#"{"token":"\#(marker)"}"#) }),
    SecretScene(
      testDescription: "business", code: .business, request: { $0.envelope = Envelope(code: "code") },
      answer: { _ in .json(#"{"code":5,"token":"\#(marker)"}"#) }),
  ]
}
