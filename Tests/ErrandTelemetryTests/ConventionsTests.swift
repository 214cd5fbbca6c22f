import ErrandCore
import Foundation
import Testing

@testable import ErrandTelemetry

struct ConventionsTests {
  @Test(
    arguments: [
      ("GET", "/notes/{id}", "GET /notes/{id}"), ("GET", nil, "GET"), ("QUERY", "/notes", "QUERY /notes"),
      ("PURGE", "/notes", "HTTP /notes"), ("get", nil, "HTTP"),
    ] as [(String, String?, String)])
  func `name consists of method and template`(_ method: String, _ template: String?, _ name: String) {
    #expect(HTTPConventions().name(HTTPMethod(method), template) == name)
  }

  @Test func `unknown method is recorded as other`() throws {
    let request = try HTTPRequest(method: "PURGE", url: "https://api.example.com/x", fields: ["User-Agent": "app/1"])
    let attributes = HTTPConventions().attributes(of: request, nil, resends: 2)
    #expect(
      attributes == [
        "http.request.method": "_OTHER", "http.request.method_original": "PURGE", "server.address": "api.example.com",
        "server.port": 443, "url.full": "https://api.example.com/x", "http.request.resend_count": 2,
      ])
    let other = HTTPConventions(knownMethods: ["PURGE"], recordsUserAgent: true)
    let known = other.attributes(of: request, nil, resends: 0)
    #expect(known["http.request.method"] == "PURGE")
    #expect(known["http.request.method_original"] == nil)
    #expect(known["user_agent.original"] == "app/1")
  }

  @Test func `address has no brackets`() throws {
    let request = try HTTPRequest(url: "http://[::1]:8080/")
    let attributes = HTTPConventions().attributes(of: request, nil, resends: 0)
    #expect(attributes["server.address"] == "::1")
    #expect(attributes["server.port"] == 8_080)
  }

  private static let literal: RequestPath = "/notes/\(7, name: "id")?page=\(2)"
  private static let relative: RequestPath = "notes/\(7)"
  private static let absolute: RequestPath = "https://cdn.example.com/a/\(7)"
  private static let origin: RequestPath = "https://cdn.example.com"
  private static let variable: RequestPath = "https://\("shop").example.com/a"

  @Test(
    arguments: [
      (literal, "/notes/{id}"), (relative, "/notes/{1}"), (absolute, "/a/{1}"), (origin, "/"), (variable, nil),
      (RequestPath("/notes/\(7)" as String), nil),
    ] as [(RequestPath, String?)])
  func `template is an absolute path`(_ path: RequestPath, _ template: String?) {
    #expect(HTTPConventions.template(of: path) == template)
  }

  // MARK: - URLs

  private static let urls: [(url: String, names: String, values: String)] = [
    ("https://h.example/p", "https://h.example/p", "https://h.example/p"),
    ("https://h.example/p?", "https://h.example/p?", "https://h.example/p?"),
    (
      "https://h.example/p?color=blue&sig=s3cret", "https://h.example/p?color=REDACTED&sig=REDACTED",
      "https://h.example/p?color=blue&sig=REDACTED"
    ),
    (
      "https://h.example/?X-Amz-Signature=a&X-Amz-Credential=b&X-Amz-Security-Token=c&X-Amz-Date=d",
      "https://h.example/?X-Amz-Signature=REDACTED&X-Amz-Credential=REDACTED&X-Amz-Security-Token=REDACTED"
        + "&X-Amz-Date=REDACTED",
      "https://h.example/?X-Amz-Signature=REDACTED&X-Amz-Credential=REDACTED&X-Amz-Security-Token=REDACTED"
        + "&X-Amz-Date=d"
    ),
    (
      "https://h.example/?AWSAccessKeyId=a&Signature=b&X-Goog-Signature=c&SIG=d",
      "https://h.example/?AWSAccessKeyId=REDACTED&Signature=REDACTED&X-Goog-Signature=REDACTED&SIG=REDACTED",
      "https://h.example/?AWSAccessKeyId=REDACTED&Signature=REDACTED&X-Goog-Signature=REDACTED&SIG=REDACTED"
    ),
    (
      "https://h.example/?access_token=a&%74oken=b&apiKey=c&a=",
      "https://h.example/?access_token=REDACTED"
        + "&%74oken=REDACTED&apiKey=REDACTED&a=REDACTED",
      "https://h.example/?access_token=REDACTED&%74oken=REDACTED&apiKey=REDACTED&a="
    ),
    (
      "https://h.example/?code=a&client_assertion=b&SAMLResponse=c&pass=d&page=2",
      "https://h.example/?code=REDACTED&client_assertion=REDACTED&SAMLResponse=REDACTED&pass=REDACTED&page=REDACTED",
      "https://h.example/?code=REDACTED&client_assertion=REDACTED&SAMLResponse=REDACTED&pass=REDACTED&page=2"
    ),
    (
      "https://h.example/?x=/y?sid=a?b&z=1", "https://h.example/?x=REDACTED&z=REDACTED",
      "https://h.example/?x=/y?sid=REDACTED&z=1"
    ),
    ("https://h.example/?s3cret", "https://h.example/?REDACTED", "https://h.example/?s3cret"),
    ("https://h.example/?a&&b=1=2", "https://h.example/?REDACTED&&b=REDACTED", "https://h.example/?a&&b=1=2"),
  ]

  @Test(arguments: urls.indices)
  func `secrets in the query are redacted`(_ index: Int) throws {
    let (text, names, values) = Self.urls[index]
    let url = try HTTPURL(text)
    #expect(HTTPConventions().url(url) == names)
    #expect(HTTPConventions(query: .values).url(url) == values)
  }

  @Test func `credentials in the URL are redacted`() throws {
    let origin = try HTTPURL("https://h.example").origin
    let url = HTTPURL(
      unchecked: "https://ada:s3cret@h.example/p@q?a=b", origin: origin, pathStart: 28, queryStart: 32)
    #expect(HTTPConventions().url(url) == "https://REDACTED:REDACTED@h.example/p@q?a=REDACTED")
  }

  // MARK: - Errors

  private struct Other: Error {}

  private static let errors: [(any Error, String?)] = [
    (TransportFailure(.nameLookup, "secret.example"), "nameLookup"),
    (TransportFailure(.idleTimeout, ""), "idleTimeout"),
    (TransportFailure(TransportFailure.Kind(rawValue: "own"), ""), "own"),
    (CallState.Stopped(reason: .cancelled), nil), (CallState.Stopped(reason: .expired), "deadline"),
    (APIError(.admission, .queueFull, "secret"), "queueFull"), (APIError(.cancelled, .loggedOut, ""), nil),
    (CancellationError(), nil), (Other(), "_OTHER"),
  ]

  @Test(arguments: errors.indices)
  func `type of an error is a code`(_ index: Int) {
    let (error, type) = Self.errors[index]
    #expect(HTTPConventions.type(of: error) == type)
    #expect(HTTPConventions.end(error).status == (type == nil ? .unset : .error))
  }

  @Test(arguments: [(200, nil), (304, nil), (399, nil), (400, "400"), (503, "503"), (999, "999")] as [(Int, String?)])
  func `status from 400 on is an error`(_ status: Int, _ type: String?) throws {
    let response = HTTPResponse(
      head: ResponseHead(status: status, version: .http2), url: try HTTPURL("https://h.example"))
    let end = HTTPConventions.end(response)
    #expect(end.attributes["error.type"] == type.map { .string($0) })
    #expect(end.attributes["http.response.status_code"] == .int(Int64(status)))
    #expect(end.attributes["network.protocol.version"] == "2")
    #expect(end.status == (type == nil ? .unset : .error))
  }

  @Test(arguments: [(ResponseHead.Version.http1_0, "1.0"), (.http1_1, "1.1"), (.http2, "2"), (.http3, "3")])
  func `version has no protocol name`(_ version: ResponseHead.Version, _ text: String) throws {
    let head = ResponseHead(status: 200, version: version)
    let response = HTTPResponse(head: head, url: try HTTPURL("https://h.example"))
    #expect(HTTPConventions.end(response).attributes["network.protocol.version"] == .string(text))
  }
}

struct SamplerTests {
  private static let low = TraceID(high: 1, low: 0xFF00_0000_0000_0001) ?? .random()
  private static let middle = TraceID(high: 1, low: 0x0080_0000_0000_0000) ?? .random()
  private static let high = TraceID(high: 1, low: 0x00FF_FFFF_FFFF_FFFF) ?? .random()

  @Test(
    arguments: [
      (.always, [true, true, true]), (.never, [false, false, false]), (.ratio(1), [true, true, true]),
      (.ratio(2), [true, true, true]), (.ratio(0), [false, false, false]), (.ratio(-1), [false, false, false]),
      (.ratio(.nan), [false, false, false]), (.ratio(0.5), [false, true, true]), (.ratio(0.49), [false, false, true]),
      (.parent(orElse: .ratio(0.5)), [false, true, true]),
    ] as [(Sampler, [Bool])])
  func `decision depends on the trace`(_ sampler: Sampler, _ samples: [Bool]) {
    #expect([Self.low, Self.middle, Self.high].map { sampler.samples($0, parent: nil) } == samples)
  }

  @Test(arguments: [(true, Sampler.never), (false, .always)])
  func `decision of the parent applies`(_ isSampled: Bool, _ other: Sampler) {
    let parent = TraceContext.root(isSampled: isSampled)
    #expect(Sampler.parent(orElse: other).samples(parent.traceID, parent: parent) == isSampled)
    #expect(other.samples(parent.traceID, parent: parent) != isSampled)
  }

  @Test func `share of random traces is near the ratio`() {
    let count = (0..<10_000).count { _ in Sampler.ratio(0.25).samples(.random(), parent: nil) }
    #expect((2_100...2_900).contains(count))
  }
}
