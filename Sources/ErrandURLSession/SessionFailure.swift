import ErrandHTTP
import Foundation

/// Turns URLSession's errors into failures that a caller can act on.
struct SessionFailure {
  /// `NSURLErrorDomain`, or another one.
  let domain: String
  /// The number within the domain.
  let code: Int
  /// URLSession's words; empty where it has none.
  let text: String
  /// Where the request went.
  let origin: HTTPURL.Origin
  /// Whether anything is known to have gone out, or came back.
  var hasMoved = false
  /// Whether the head of the answer came.
  var hasHead = false

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

  /// The failure, with URLSession's own words and number behind the sentence.
  var transportFailure: TransportFailure {
    let kind = kind
    let sentence = SessionFailureText.sentence(for: kind, code: domain == NSURLErrorDomain ? code : 0, origin)
    let words = text.isEmpty ? "" : "\(text); "
    return TransportFailure(
      kind, "\(sentence.dropLast()) (\(words)\(domain) \(code)).",
      isCertainlyNotSent: !hasMoved && domain == NSURLErrorDomain && Self.unsentCodes.contains(code))
  }

  /// What cannot come once a request is under way.
  private static let unsentCodes = [
    NSURLErrorCannotFindHost, NSURLErrorDNSLookupFailed, NSURLErrorCannotConnectToHost,
    NSURLErrorAppTransportSecurityRequiresSecureConnection,
  ]

  var kind: TransportFailure.Kind {
    guard domain == NSURLErrorDomain else { return .other }
    // The line broke: before the head, or in the body.
    if code == NSURLErrorNetworkConnectionLost { return hasHead ? .truncated : .closedBeforeResponse }
    if code == NSURLErrorCannotConnectToHost, isElsewhere { return .proxy }
    if Self.vagueCodes.contains(code), let kind = wordedKind { return kind }
    return Self.kinds[code] ?? .other
  }

  /// What Foundation on Linux says of many things; libcurl's words beside it tell them apart.
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

  /// Whether libcurl names another place than the server's that it could not connect to: then it is the proxy.
  private var isElsewhere: Bool {
    let host = origin.host.drop { $0 == "[" }.prefix { $0 != "]" }
    return text.hasPrefix("Failed to connect to ")
      && !text.hasPrefix("Failed to connect to \(host) port \(origin.port) ")
  }

  private var wordedKind: TransportFailure.Kind? {
    let words = text.lowercased()
    return Self.words.first { words.contains($0.words) }?.kind
  }

  /// The first that fits counts.
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

/// The sentences of failures.
enum SessionFailureText {
  static func sentence(for kind: TransportFailure.Kind, code: Int, _ origin: HTTPURL.Origin) -> String {
    if let sentence = special(code, origin) { return sentence }
    return switch kind {
    case .unsupported: "The request cannot be sent by URLSession."
    case .offline: "There is no network on which \(origin) could be reached."
    case .nameLookup: "The name of \(origin.host) could not be resolved."
    case .refused: "Nobody listens at \(origin), or it cannot be reached."
    case .proxy: "The proxy on the way to \(origin) refused or failed."
    case .idleTimeout: idleTimeout(origin, after: nil)
    case .closedBeforeResponse: "\(origin) closed the connection before its answer."
    case .truncated: "The answer of \(origin) ended before its announced end."
    case .malformedResponse: "The answer of \(origin) breaks the rules of HTTP."
    case .tooLarge: "The answer is larger than URLSession takes."
    case .undecodableContent: "The body cannot be decoded."
    case .bodySource: "What the body is read from ended too early."
    default: kind.concernsTLS ? tls(kind, origin) : "The exchange with \(origin) failed."
    }
  }

  static func idleTimeout(_ origin: HTTPURL.Origin, after limit: Duration?) -> String {
    let within = limit.map { "within \($0)" } ?? "in time"
    return "Nothing moved between \(origin) and here \(within); raise `timeouts.idle` to wait longer."
  }

  /// What one number says more exactly than its kind.
  private static func special(_ code: Int, _ origin: HTTPURL.Origin) -> String? {
    switch code {
    case NSURLErrorAppTransportSecurityRequiresSecureConnection:
      "App Transport Security forbids cleartext to \(origin.host); use https, or name the host in the app's Info.plist."
    case NSURLErrorServerCertificateUntrusted:
      "The certificate of \(origin) is not trusted: its authority is unknown, or it is for another host."
    default: nil
    }
  }

  private static func tls(_ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin) -> String {
    switch kind {
    case .certificateExpired: "The certificate of \(origin) has expired; it is for the server's owner to renew it."
    case .certificateNotYetValid:
      "The certificate of \(origin) is not valid yet; see whether this machine's clock is right."
    case .certificateSelfSigned: "The certificate of \(origin) is signed by itself."
    case .wrongHost: "The certificate of \(origin) is for another host."
    case .unknownAuthority: "The certificate of \(origin) comes from an authority that is not trusted."
    case .pinMismatch:
      "The public key of \(origin) is not among its pins; add the new key's pin if the server's owner says so."
    case .clientCertificateRequired: "\(origin) asked for a client certificate and was shown none."
    case .clientCertificateRefused: "\(origin) refused the client certificate."
    default: "TLS with \(origin) could not be set up."
    }
  }
}
