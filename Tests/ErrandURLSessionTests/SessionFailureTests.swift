import ErrandCore
import Foundation
import Testing

@testable import ErrandURLSession

struct SessionFailureTests {
  private static func failure(
    _ code: Int, _ text: String = "", domain: String = NSURLErrorDomain, hasHead: Bool = false, hasMoved: Bool = false,
    hasBody: Bool = true, platform: SessionPlatform = .current
  ) throws -> TransportFailure {
    var failure = SessionFailure(
      domain: domain, code: code, text: text, origin: try HTTPURL("https://h.example/x").origin)
    failure.hasHead = hasHead
    failure.hasMoved = hasMoved
    failure.hasBody = hasBody
    failure.platform = platform
    return failure.transportFailure
  }

  // Foundation's error numbers for TLS differ between Linux and Apple platforms.
  @Test(arguments: [
    (-1009, TransportFailure.Kind.offline), (-1020, .offline), (-1003, .nameLookup), (-1006, .nameLookup),
    (-1004, .refused), (-1001, .idleTimeout), (-1005, .closedBeforeResponse), (NSURLErrorSecureConnectionFailed, .tls),
    (NSURLErrorServerCertificateUntrusted, .tls),
    (NSURLErrorServerCertificateHasBadDate, .certificateExpired),
    (NSURLErrorServerCertificateNotYetValid, .certificateNotYetValid),
    (NSURLErrorServerCertificateHasUnknownRoot, .unknownAuthority),
    (NSURLErrorClientCertificateRejected, .clientCertificateRefused),
    (NSURLErrorClientCertificateRequired, .clientCertificateRequired), (-1011, .malformedResponse),
    (-1017, .malformedResponse), (-1015, .undecodableContent), (-1016, .undecodableContent), (-1103, .tooLarge),
    (-1000, .unsupported), (-1002, .unsupported), (-1022, .unsupported), (-1021, .bodySource), (-1, .other),
    (-4711, .other),
  ])
  func `each code has its kind`(code: Int, kind: TransportFailure.Kind) throws {
    #expect(try Self.failure(code).kind == kind)
  }

  @Test(arguments: [
    ("transfer closed with 3 bytes remaining to read", TransportFailure.Kind.truncated),
    ("transfer closed with outstanding read data remaining", .truncated), ("Out of memory", .tooLarge),
    ("Nul byte in header", .malformedResponse),
    ("Unrecognized content encoding type. libcurl understands gzip content encodings.", .undecodableContent),
    ("Error while processing content unencoding: incorrect header check", .undecodableContent),
    ("Invalid Content-Length: value", .malformedResponse),
    ("Illegal or missing hexadecimal sequence in chunked-encoding", .malformedResponse),
    ("SSL certificate problem: self-signed certificate", .certificateSelfSigned),
    ("SSL certificate problem: certificate has expired", .certificateExpired),
    ("SSL certificate problem: certificate is not yet valid", .certificateNotYetValid),
    ("SSL certificate problem: unable to get local issuer certificate", .unknownAuthority),
    ("SSL: no alternative certificate subject name matches target host name 'a.example'", .wrongHost),
    ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL", .tls), ("something else", .other),
  ])
  func `libcurl's message refines vague codes`(text: String, kind: TransportFailure.Kind) throws {
    #expect(try Self.failure(-1, text).kind == kind)
  }

  @Test func `a bad response is not an unsupported URL`() throws {
    #expect(try Self.failure(-1002, "Received HTTP/0.9 when not allowed").kind == .malformedResponse)
    #expect(try Self.failure(-1002, "Unsupported response code in HTTP response").kind == .malformedResponse)
    #expect(try Self.failure(-1011, "Empty reply from server").kind == .closedBeforeResponse)
  }

  @Test func `an unreachable proxy is reported`() throws {
    #expect(try Self.failure(-1004, "Failed to connect to p.example port 3128 after 1 ms").kind == .proxy)
    #expect(try Self.failure(-1004, "Failed to connect to h.example port 443 after 1 ms").kind == .refused)
  }

  @Test func `a connection lost after headers is truncated`() throws {
    #expect(try Self.failure(-1005, hasHead: true).kind == .truncated)
  }

  // These numbers are Darwin's, whatever the platform of the test.
  @Test(arguments: [
    (NSPOSIXErrorDomain, 32, TransportFailure.Kind.closedBeforeResponse),
    (NSPOSIXErrorDomain, 53, .closedBeforeResponse),
    (NSPOSIXErrorDomain, 54, .closedBeforeResponse), (NSPOSIXErrorDomain, 57, .closedBeforeResponse),
    (NSPOSIXErrorDomain, 50, .offline), (NSPOSIXErrorDomain, 51, .offline), (NSPOSIXErrorDomain, 60, .idleTimeout),
    (NSPOSIXErrorDomain, 61, .refused), (NSPOSIXErrorDomain, 65, .refused), (NSPOSIXErrorDomain, 100, .http2),
    (NSPOSIXErrorDomain, 2, .other), ("kCFErrorDomainCFNetwork", -1005, .closedBeforeResponse),
    ("kCFErrorDomainCFNetwork", -1009, .offline), ("kCFErrorDomainCFNetwork", 302, .closedBeforeResponse),
    ("kCFErrorDomainCFNetwork", 303, .malformedResponse), ("kCFErrorDomainCFNetwork", 306, .proxy),
    ("kCFErrorDomainCFNetwork", 307, .proxyCredentials), ("kCFErrorDomainCFNetwork", 311, .proxy),
    ("kCFErrorDomainCFNetwork", 313, .proxy), ("kCFErrorDomainCFNetwork", 2, .nameLookup),
    ("kCFErrorDomainCFNetwork", 200, .other), ("Other", -1009, .other),
  ])
  func `other domains have kinds`(domain: String, code: Int, kind: TransportFailure.Kind) throws {
    let failure = try Self.failure(code, domain: domain)
    #expect(failure.kind == kind && !failure.isCertainlyNotSent)
    #expect(failure.description.hasPrefix("The exchange with") == (kind == .other))
    let isLoss = kind == .closedBeforeResponse
    #expect(try Self.failure(code, domain: domain, hasHead: true).kind == (isLoss ? .truncated : kind))
  }

  @Test func `only unsent requests are marked unsent`() throws {
    for code in [-1003, -1006, -1004, -1022, -1009, -1020, -1018, -1019] {
      #expect(try Self.failure(code).isCertainlyNotSent)
      #expect(try !Self.failure(code, hasMoved: true).isCertainlyNotSent)
    }
    for code in [-1001, -1005, -1002, -1011, -1] {
      #expect(try !Self.failure(code).isCertainlyNotSent)
    }
    #expect(try !Self.failure(-1004, domain: "Other").isCertainlyNotSent)
  }

  @Test func `lost network leaves bodyless requests unknown`() throws {
    for code in [-1009, -1020, -1018, -1019] {
      #expect(try !Self.failure(code, hasBody: false).isCertainlyNotSent)
    }
    #expect(try Self.failure(-1003, hasBody: false).isCertainlyNotSent)
  }

  @Test func `the message includes URLSession's text`() throws {
    #expect(
      try Self.failure(-4711, "strange things").description
        == "The exchange with https://h.example failed (strange things; NSURLErrorDomain -4711).")
    #expect(
      try Self.failure(7, domain: "Other").description == "The exchange with https://h.example failed (Other 7).")
    #expect(
      try Self.failure(-1003).description
        == "The name of h.example could not be resolved (NSURLErrorDomain -1003).")
    #expect(
      try Self.failure(-1022).description
        == "App Transport Security forbids cleartext to h.example; use https, or name the host in the app's Info.plist"
        + " (NSURLErrorDomain -1022).")
  }

  @Test(arguments: [
    (-1, "SSL certificate problem: self-signed certificate", "`certificateAuthority`"),
    (-1, "SSL certificate problem: unable to get local issuer certificate", "`certificateAuthority`"),
    (NSURLErrorServerCertificateHasUnknownRoot, "", "`certificateAuthority`"),
    (NSURLErrorClientCertificateRequired, "", "`clientCertificates`"),
  ])
  func `cures are settings of the platform`(code: Int, text: String, setting: String) throws {
    let linux = try Self.failure(code, text, platform: .linux).description
    #expect(!linux.contains(setting) && linux.contains("use the engine or the libcurl transport"), "\(linux)")
    let apple = try Self.failure(code, text, platform: .apple).description
    #expect(apple.contains(setting) && !apple.contains("libcurl"), "\(apple)")
  }

  @Test func `a broken body names its cause`() throws {
    #expect(
      try Self.failure(-1, "transfer closed with 3 bytes remaining to read").description
        == "The response of https://h.example ended before its announced end "
        + "(transfer closed with 3 bytes remaining to read; NSURLErrorDomain -1).")
    #expect(
      try Self.failure(-1016).description
        == "The content coding of the response body cannot be decoded (NSURLErrorDomain -1016).")
  }

  @Test(arguments: [
    -1009, -1003, -1004, -1001, -1005, -1011, -1016, -1103, -1002, -1022, -1021, NSURLErrorSecureConnectionFailed,
    NSURLErrorServerCertificateHasBadDate, NSURLErrorServerCertificateUntrusted, NSURLErrorServerCertificateNotYetValid,
    NSURLErrorServerCertificateHasUnknownRoot, NSURLErrorClientCertificateRejected,
    NSURLErrorClientCertificateRequired,
  ])
  func `every kind has its own message`(code: Int) throws {
    #expect(try !Self.failure(code).description.hasPrefix("The exchange with"))
  }
}
