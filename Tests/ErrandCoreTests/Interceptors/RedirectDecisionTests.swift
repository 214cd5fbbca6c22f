import Foundation
import Testing

@testable import ErrandCore

struct RedirectDecisionTests {
  static func answer(_ status: Int, _ locations: String...) throws -> HTTPResponse {
    let fields = HTTPFields(locations.map { HTTPField(.location, $0) })
    return HTTPResponse(head: ResponseHead(status: status, fields: fields), url: try HTTPURL("http://h/"))
  }

  static func request(
    _ method: HTTPMethod = .get, _ url: String = "http://h/a", fields: HTTPFields = [:], body: String? = nil
  ) throws -> HTTPRequest {
    try HTTPRequest(method: method, url: url, fields: fields, body: body.map { HTTPBody(Data($0.utf8)) })
  }

  static func decide(
    _ response: HTTPResponse, _ request: HTTPRequest, visited: [HTTPRequest]? = nil,
    _ policy: RedirectPolicy = .follow()
  ) -> RedirectDecision {
    RedirectDecision.decide(response, to: request, visited: visited ?? [request], policy: policy)
  }

  @Test(arguments: [
    (301, "GET", "GET"), (301, "HEAD", "HEAD"), (301, "POST", "GET"), (301, "PUT", "PUT"), (301, "DELETE", "DELETE"),
    (302, "GET", "GET"), (302, "HEAD", "HEAD"), (302, "POST", "GET"), (302, "PATCH", "PATCH"),
    (303, "GET", "GET"), (303, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "DELETE", "GET"),
    (303, "PURGE", "GET"), (307, "POST", "POST"), (307, "GET", "GET"), (307, "PUT", "PUT"), (308, "POST", "POST"),
    (308, "DELETE", "DELETE"),
  ])
  func `method changes by RFC 9110`(status: Int, method: String, expected: String) throws {
    let fields: HTTPFields = [
      "Content-Type": "text/plain", "content-language": "en", "repr-digest": "sha-256=:x:", "X-A": "b",
    ]
    let request = try Self.request(HTTPMethod(method), fields: fields, body: "x")
    let hop = try #require(Self.decide(Self.answer(status, "/b"), request).hop)
    #expect(hop.method.rawValue == expected && hop.url.string == "http://h/b")
    let isKept = method == expected
    #expect(hop.body?.data == (isKept ? Data("x".utf8) : nil))
    #expect(hop.fields == (isKept ? fields : ["X-A": "b"]))
  }

  @Test(arguments: [200, 201, 204, 300, 304, 305, 306, 309, 399, 400, 404, 500])
  func `other 3xx statuses are delivered`(status: Int) throws {
    #expect(try Self.decide(Self.answer(status, "/b"), Self.request()).isDelivery)
    #expect(try Self.decide(Self.answer(status, "/b"), Self.request(), .never).isDelivery)
  }

  @Test func `manual mode delivers the redirect`() throws {
    #expect(try Self.decide(Self.answer(302, "/b"), Self.request(), .manual).isDelivery)
  }

  @Test func `redirect fails if policy is never`() throws {
    let error = try Self.decide(Self.answer(302, "/b"), Self.request(), .never).failure
    #expect(error?.code == .redirectRefused && error?.stage == .redirect)
    #expect(
      error?.message == "The server redirected with status 302, but the redirect policy is `RedirectPolicy.never`.")
  }

  @Test func `redirects stop after ten hops`() throws {
    let all = try (0...11).map { try Self.request(.get, "http://h/\($0)") }
    for count in 1...10 {
      #expect(try Self.decide(Self.answer(302, "/n"), all[count - 1], visited: Array(all[..<count])).hop != nil)
    }
    let error = try Self.decide(Self.answer(302, "/n"), all[10], visited: Array(all[...10])).failure
    #expect(error?.code == .tooManyRedirects)
    #expect(
      error?.message == "The call was redirected more than 10 times; "
        + "to allow more redirects, raise `limit` in the redirect policy.")
    let short = RedirectPolicy.follow(limit: 0)
    #expect(try Self.decide(Self.answer(302, "/n"), all[0], short).failure?.code == .tooManyRedirects)
  }

  @Test func `redirect loop is detected`() throws {
    let request = try Self.request()
    let there = try Self.request(.get, "http://h/b")
    let back = try Self.decide(Self.answer(302, "/a?"), there, visited: [request, there])
    #expect(back.hop != nil)
    #expect(try Self.decide(Self.answer(302, "/a#x"), there, visited: [request, there]).hop != nil, "a first return")
    let circle = try Self.decide(Self.answer(302, "/a#x"), there, visited: [request, there, request, there]).failure
    #expect(circle?.code == .redirectLoop)
    #expect(circle?.message == "The redirects form a loop: they lead back to http://h/a.")
    #expect(try Self.decide(Self.answer(302, ""), request).hop != nil)
    #expect(try Self.decide(Self.answer(302, ""), request, visited: [request, request]).failure?.code == .redirectLoop)
  }

  @Test func `POST may return as GET to same URL`() throws {
    let hop = try Self.decide(Self.answer(303, "/a"), Self.request(.post, body: "x")).hop
    #expect(hop?.method == .get && hop?.url.string == "http://h/a")
  }

  @Test(arguments: ["http://h/b", "//h/b", "http://H:80/b", "HTTP://h/b"])
  func `secrets follow within their origin`(location: String) throws {
    let hop = try #require(Self.decide(Self.answer(307, location), Self.secretRequest()).hop)
    #expect(hop.fields == Self.secrets && hop.body == nil)
  }

  @Test(arguments: ["http://o/b", "//o/b", "http://h:81/b", "https://h/b", "http://x.h/b", "http://h./b"])
  func `secrets are removed for another origin`(location: String) throws {
    let hop = try #require(Self.decide(Self.answer(302, location), Self.secretRequest()).hop)
    #expect(hop.fields == ["X-Plain": "p", "Accept": "a"])
  }

  static let secrets = HTTPFields([
    HTTPField("authorization", "s"), HTTPField("COOKIE", "s"), HTTPField("Proxy-Authorization", "s"),
    HTTPField("X-Api-Key", "s", isSecret: true), HTTPField("X-Plain", "p"), HTTPField("Accept", "a"),
  ])

  static let names: [(HTTPFieldName, Bool)] = [
    ("X-Api-Key", false), ("x-auth-token", false), ("X-Session-Id", false), ("X-CSRF-Token", false),
    ("Client-Secret", false), ("X-Jwt", false), ("Signature", false), ("idempotency-key", true), ("X-Client", true),
    ("Digest", true), ("Accept-Language", true), ("If-None-Match", true), ("X-Request-Id", true), ("Range", true),
  ]

  @Test(arguments: names)
  func `secret names are removed for another origin`(name: HTTPFieldName, isSent: Bool) throws {
    let request = try Self.request(fields: HTTPFields([HTTPField(name, "v")]))
    #expect(try Self.decide(Self.answer(302, "http://o/b"), request).hop?.fields.contains(name) == isSent)
    #expect(try Self.decide(Self.answer(302, "/b"), request).hop?.fields.contains(name) == true)
    let policy = RedirectPolicy.follow(resendsFieldsElsewhere: [name])
    #expect(try Self.decide(Self.answer(302, "http://o/b"), request, policy).hop?.fields.contains(name) == true)
  }

  @Test func `policy sends no marked secret elsewhere`() throws {
    let policy = RedirectPolicy.follow(resendsFieldsElsewhere: ["Authorization", "Cookie", "X-Api-Key"])
    let hop = try #require(Self.decide(Self.answer(302, "http://o/b"), Self.secretRequest(), policy).hop)
    #expect(hop.fields == ["X-Plain": "p", "Accept": "a"])
  }

  static func secretRequest() throws -> HTTPRequest { try request(fields: secrets) }

  @Test(arguments: [307, 308]) func `body is not resent to another origin`(status: Int) throws {
    let request = try Self.request(.post, body: "x")
    let error = try Self.decide(Self.answer(status, "http://o/b"), request).failure
    #expect(error?.code == .redirectRefused)
    #expect(
      error?.message == "The redirect would send the body to http://o; "
        + "to allow this, set `resendsBodyElsewhere` in the redirect policy.")
    #expect(try Self.decide(Self.answer(status, "/b"), request).hop?.body?.data == Data("x".utf8))
    let policy = RedirectPolicy.follow(resendsBodyElsewhere: true)
    #expect(try Self.decide(Self.answer(status, "http://o/b"), request, policy).hop?.body?.data == Data("x".utf8))
    #expect(try Self.decide(Self.answer(status, "http://o/b"), Self.request(.post)).hop?.method == .post)
    #expect(try Self.decide(Self.answer(303, "http://o/b"), request).hop?.method == .get)
  }

  @Test func `https does not redirect to http`() throws {
    let request = try Self.request(.get, "https://h/a", fields: Self.secrets)
    let error = try Self.decide(Self.answer(301, "http://h/a?token=MARKER"), request).failure
    #expect(error?.code == .redirectRefused)
    #expect(
      error?.message == "The redirect leads from https to http at http://h; "
        + "to allow this, set `allowsDowngrade` in the redirect policy.")
    let hop = try Self.decide(Self.answer(301, "http://h/a"), request, .follow(allowsDowngrade: true)).hop
    #expect(hop?.fields == ["X-Plain": "p", "Accept": "a"])
    #expect(try Self.decide(Self.answer(301, "//h/b"), request).hop?.url.scheme == .https)
  }

  @Test(arguments: ["ftp://o/", "file:///etc/passwd", "data:,x", "http://", "http://o:0/", "http://[x/", "a\r\nb"])
  func `unusable Location fails`(location: String) throws {
    let error = try Self.decide(Self.answer(302, location), Self.request()).failure
    #expect(error?.code == .invalidRedirect)
    #expect(error?.message.hasPrefix("The redirect cannot be followed: ") == true)
  }

  @Test func `exactly one Location is required`() throws {
    let none = try Self.decide(Self.answer(302), Self.request()).failure
    #expect(none?.code == .invalidRedirect)
    #expect(none?.message == "The server redirected with status 302, but the response has no Location field.")
    let several = try Self.decide(Self.answer(302, "/b", "/c"), Self.request()).failure
    #expect(
      several?.message
        == "The server redirected with status 302, but the response has several different Location fields.")
    #expect(try Self.decide(Self.answer(302, "/b", "/b"), Self.request()).hop?.url.string == "http://h/b")
    // Equal as Swift strings, but not as bytes.
    let forms = try Self.decide(Self.answer(302, "/caf\u{e9}", "/cafe\u{301}"), Self.request()).failure
    #expect(forms?.message == several?.message)
  }

  @Test func `user info in Location is removed`() throws {
    let hop = try Self.decide(Self.answer(302, "http://u:MARKER@o/b"), Self.request()).hop
    #expect(hop?.url.string == "http://o/b" && hop?.fields.isEmpty == true)
  }

  @Test(arguments: ["http://u:MARKER@o:0/", "ftp://u:MARKER@o/?k=MARKER", "http://o/?k=MARKER\n"])
  func `errors do not show Location secrets`(location: String) throws {
    let error = try Self.decide(Self.answer(302, location), Self.request()).failure
    #expect(error.map { "\($0)" }?.contains("MARKER") == false)
  }
}

extension RedirectDecision {
  var hop: HTTPRequest? { if case .follow(let hop) = self { hop } else { nil } }
  var failure: APIError? { if case .fail(let error) = self { error } else { nil } }
  var isDelivery: Bool { if case .deliver = self { true } else { false } }
}
