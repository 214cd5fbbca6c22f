import ErrandHTTP
import Foundation

/// Converts an error of URLSession to a ``TransportFailure``. The kind of the failure helps the caller to react.
struct SessionFailure {
  /// The error's domain: `NSURLErrorDomain`, `NSPOSIXErrorDomain`, that of CFNetwork, or another domain.
  let domain: String
  /// The error's number within its domain.
  let code: Int
  /// URLSession's description of the error; empty if there is none.
  let text: String
  let origin: HTTPURL.Origin
  /// Whether any byte of the request was sent, or any byte of the response was received, as far as is known.
  var hasMoved = false
  /// Whether the request has a body that is not empty. URLSession reports that it sends such a body, but not that it
  /// sends header fields.
  var hasBody = true
  /// Whether the headers of the response had arrived before the error.
  var hasHead = false
  /// The platform of URLSession. The message suggests only settings that the platform supports.
  var platform = SessionPlatform.current

  init(domain: String = NSURLErrorDomain, code: Int, text: String = "", origin: HTTPURL.Origin) {
    self.domain = domain
    self.code = code
    self.text = text
    self.origin = origin
  }

  init(_ error: any Error, _ origin: HTTPURL.Origin) {
    let error = error as NSError
    self.init(domain: error.domain, code: error.code, text: error.localizedDescription, origin: origin)
  }

  /// The ``TransportFailure`` for this error. Its message ends with URLSession's description and error number.
  var transportFailure: TransportFailure {
    let kind = kind
    let sentence = SessionFailureText.sentence(for: kind, code: sessionCode ?? 0, origin, on: platform)
    let words = text.isEmpty ? "" : "\(text); "
    return TransportFailure(
      kind, "\(sentence.dropLast()) (\(words)\(domain) \(code)).",
      isCertainlyNotSent: !hasMoved && domain == NSURLErrorDomain
        && (Self.unconnectedCodes.contains(code) || hasBody && Self.offlineCodes.contains(code)))
  }

  /// The numbers of errors that mean that no connection was made, so that no part of the request was sent.
  private static let unconnectedCodes = [
    NSURLErrorCannotFindHost, NSURLErrorDNSLookupFailed, NSURLErrorCannotConnectToHost,
    NSURLErrorAppTransportSecurityRequiresSecureConnection,
  ]

  /// The numbers of errors that mean that there is no network. It may also have ended while the request waited for its
  /// response, and URLSession does not show whether a request without a body was sent.
  private static let offlineCodes = [
    NSURLErrorNotConnectedToInternet, NSURLErrorDataNotAllowed, NSURLErrorInternationalRoamingOff,
    NSURLErrorCallIsActive,
  ]

  private static let cfNetworkDomain = "kCFErrorDomainCFNetwork"

  /// The error's number in `NSURLErrorDomain`; nil if it has none. The negative numbers of CFNetwork are the same.
  private var sessionCode: Int? {
    domain == NSURLErrorDomain || domain == Self.cfNetworkDomain && code < 0 ? code : nil
  }

  /// The kind for a lost connection, either before the response headers or during the response body.
  private var lossKind: TransportFailure.Kind { hasHead ? .truncated : .closedBeforeResponse }

  var kind: TransportFailure.Kind {
    if let sessionCode { return kind(of: sessionCode) }
    switch domain {
    case NSPOSIXErrorDomain: return Self.posixLosses.contains(code) ? lossKind : Self.posixKinds[code] ?? .other
    case Self.cfNetworkDomain: return code == Self.cfNetworkLoss ? lossKind : Self.cfNetworkKinds[code] ?? .other
    default: return .other
    }
  }

  private func kind(of code: Int) -> TransportFailure.Kind {
    if code == NSURLErrorNetworkConnectionLost { return lossKind }
    if code == NSURLErrorCannotConnectToHost, isElsewhere { return .proxy }
    if Self.vagueCodes.contains(code), let kind = wordedKind { return kind }
    return Self.kinds[code] ?? .other
  }

  // URLSession on Apple platforms reports some failures of a connection with the numbers of Darwin's `errno.h`. They
  // are literals, because the same names have other numbers on Linux.

  /// EPIPE, ENETRESET, ECONNABORTED, ECONNRESET and ENOTCONN.
  private static let posixLosses = [32, 52, 53, 54, 57]

  /// ENETDOWN, ENETUNREACH, ETIMEDOUT, ECONNREFUSED, EHOSTDOWN, EHOSTUNREACH and EPROTO. URLSession reports an HTTP/2
  /// connection that violates the protocol as EPROTO.
  private static let posixKinds: [Int: TransportFailure.Kind] = [
    50: .offline, 51: .offline, 60: .idleTimeout, 61: .refused, 64: .refused, 65: .refused, 100: .http2,
  ]

  // Numbers of `CFNetworkErrors.h`, which Foundation on Linux does not declare.

  /// `kCFErrorHTTPConnectionLost`.
  private static let cfNetworkLoss = 302

  /// Host not found, malformed response, and failures of the proxy, of its configuration or of its connection.
  private static let cfNetworkKinds: [Int: TransportFailure.Kind] = [
    1: .nameLookup, 2: .nameLookup, 303: .malformedResponse, 306: .proxy, 307: .proxyCredentials, 308: .proxy,
    309: .proxy, 310: .proxy, 311: .proxy, 312: .proxy, 313: .proxy,
  ]

  /// Error numbers that Foundation on Linux uses for many different failures. The text of the error comes from libcurl
  /// and shows which failure it is.
  private static let vagueCodes = [NSURLErrorUnknown, NSURLErrorBadServerResponse, NSURLErrorUnsupportedURL]

  private static let kinds: [Int: TransportFailure.Kind] = [
    NSURLErrorBadURL: .unsupported, NSURLErrorUnsupportedURL: .unsupported,
    NSURLErrorAppTransportSecurityRequiresSecureConnection: .unsupported,
    NSURLErrorNotConnectedToInternet: .offline, NSURLErrorDataNotAllowed: .offline,
    NSURLErrorInternationalRoamingOff: .offline, NSURLErrorCallIsActive: .offline,
    NSURLErrorCannotFindHost: .nameLookup, NSURLErrorDNSLookupFailed: .nameLookup,
    NSURLErrorCannotConnectToHost: .refused, NSURLErrorTimedOut: .idleTimeout,
    NSURLErrorSecureConnectionFailed: .tls, NSURLErrorServerCertificateHasBadDate: .certificateExpired,
    NSURLErrorServerCertificateNotYetValid: .certificateNotYetValid, NSURLErrorServerCertificateUntrusted: .tls,
    NSURLErrorServerCertificateHasUnknownRoot: .unknownAuthority,
    NSURLErrorClientCertificateRejected: .clientCertificateRefused,
    NSURLErrorClientCertificateRequired: .clientCertificateRequired,
    NSURLErrorBadServerResponse: .malformedResponse, NSURLErrorCannotParseResponse: .malformedResponse,
    NSURLErrorZeroByteResource: .malformedResponse, NSURLErrorCannotDecodeRawData: .undecodableContent,
    NSURLErrorCannotDecodeContentData: .undecodableContent, NSURLErrorDataLengthExceedsMaximum: .tooLarge,
    NSURLErrorRequestBodyStreamExhausted: .bodySource,
  ]

  /// Whether libcurl failed to connect to a host that is not the server of the request. Such a host must be the proxy.
  private var isElsewhere: Bool {
    let host = origin.host.drop { $0 == "[" }.prefix { $0 != "]" }
    return text.hasPrefix("Failed to connect to ")
      && !text.hasPrefix("Failed to connect to \(host) port \(origin.port) ")
  }

  private var wordedKind: TransportFailure.Kind? {
    let words = text.lowercased()
    return Self.words.first { words.contains($0.words) }?.kind
  }

  /// Phrases in libcurl's error texts, and the kinds of failures that they mean. The first phrase of this list that
  /// occurs in a text counts.
  private static let words: [(words: String, kind: TransportFailure.Kind)] = [
    ("self-signed certificate", .certificateSelfSigned), ("self signed certificate", .certificateSelfSigned),
    ("certificate has expired", .certificateExpired), ("certificate is not yet valid", .certificateNotYetValid),
    ("unable to get local issuer", .unknownAuthority), ("target host name", .wrongHost),
    ("ssl", .tls), ("tls", .tls), ("certificate", .tls),
    ("content unencoding", .undecodableContent),
    ("content encoding", .undecodableContent), ("empty reply", .closedBeforeResponse),
    ("transfer closed with", .truncated), ("out of memory", .tooLarge),
    ("too large response headers", .tooLarge), ("http/0.9", .malformedResponse), ("response", .malformedResponse),
    ("chunk", .malformedResponse), ("header", .malformedResponse), ("content-length", .malformedResponse),
  ]
}

/// The English messages of failures of URLSession: those of ``FailureText``, except where URLSession differs from the
/// other transports.
enum SessionFailureText {
  static func sentence(
    for kind: TransportFailure.Kind, code: Int, _ origin: HTTPURL.Origin, on platform: SessionPlatform
  ) -> String {
    if let sentence = special(code, origin) { return sentence }
    if !platform.takesProxyAndTLS, let sentence = withoutTLSSettings(kind, origin) { return sentence }
    return switch kind {
    case .unsupported: "The request cannot be sent by URLSession."
    case .proxyCredentials:
      "The proxy for \(origin) requires other credentials; set them in the settings of the system."
    case .tooLarge: "The response is larger than URLSession accepts."
    case .bodySource: "The source of the request body ended too early."
    default: FailureText.sentence(for: kind, origin: origin)
    }
  }

  /// A message for an error number of URLSession that is more exact than the message for the kind of failure; nil for
  /// most error numbers.
  private static func special(_ code: Int, _ origin: HTTPURL.Origin) -> String? {
    switch code {
    case NSURLErrorAppTransportSecurityRequiresSecureConnection:
      "App Transport Security forbids cleartext to \(origin.host); use https, or name the host in the app's Info.plist."
    case NSURLErrorServerCertificateUntrusted:
      "The certificate of \(origin) is not trusted: its authority is unknown, "
        + "or the certificate is for another host."
    default: nil
    }
  }

  /// A message for a kind of failure whose usual cure is a setting that URLSession ignores on this platform; nil for
  /// other kinds. The message names the transports that have the setting.
  private static func withoutTLSSettings(_ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin) -> String? {
    switch kind {
    case .certificateSelfSigned:
      "The certificate of \(origin) is self-signed; to trust this certificate, use the engine or the libcurl transport."
    case .unknownAuthority:
      "The certificate of \(origin) comes from an authority that is not trusted; "
        + "to trust this authority, use the engine or the libcurl transport."
    case .clientCertificateRequired:
      "\(origin) requires a client certificate, but none was sent; "
        + "to send one, use the engine or the libcurl transport."
    default: nil
    }
  }
}
