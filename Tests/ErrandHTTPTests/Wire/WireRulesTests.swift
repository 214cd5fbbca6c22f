import ErrandHTTP
import Foundation
import Testing

struct WireRulesTests {
  private static func request(
    _ method: HTTPMethod = .get, _ field: HTTPField? = nil, hasBody: Bool = false
  ) throws -> HTTPRequest {
    try HTTPRequest(
      method: method, url: "http://h/", fields: HTTPFields(field.map { [HTTPField("A", "1"), $0] } ?? []),
      body: hasBody ? HTTPBody(Data([1])) : nil)
  }

  @Test(arguments: [
    HTTPField("X-Name", "v"), HTTPField("X", ""), HTTPField("X", "a\tb"), HTTPField("X", "é"),
    HTTPField("!#$%&'*+-.^_`|~", "v"),
    HTTPField("Hosts", "h"), HTTPField("T", "trailers"), HTTPField("Transfer-Encodings", "chunked"),
  ])
  func `valid field is accepted`(field: HTTPField) throws {
    let request = try Self.request(.get, field)
    #expect(WireRules.isValid(request))
    try WireRules.check(request)
  }

  @Test(arguments: [
    HTTPField("", "v"), HTTPField("X Y", "v"), HTTPField("X:", "v"), HTTPField("É", "v"), HTTPField("X\r\nY", "v"),
    HTTPField("X", "a\r\nB: c"), HTTPField("X", "a\nb"), HTTPField("X", "a\0b"), HTTPField("X", "\u{7F}"),
    HTTPField("X", " a"), HTTPField("X", "a "), HTTPField("X", "\ta"), HTTPField("X", " "), HTTPField("hOST", "h"),
    HTTPField("te", "trailers"), HTTPField("Content-Length", "1"), HTTPField("TRANSFER-ENCODING", "chunked"),
    HTTPField("Connection", "close"), HTTPField("Keep-Alive", "1"), HTTPField("Expect", "100-continue"),
    HTTPField("Trailer", "X"), HTTPField("Upgrade", "h2c"), HTTPField("Proxy-Connection", "close"),
  ])
  func `field that breaks the message is refused`(field: HTTPField) throws {
    let request = try Self.request(.get, field)
    #expect(!WireRules.isValid(request))
    #expect(throws: WireFault.self) { try WireRules.check(request) }
  }

  @Test(arguments: ["", "GE T", "GET\r\n", "É", "CONNECT"] as [HTTPMethod])
  func `invalid method is refused`(method: HTTPMethod) throws {
    let request = try Self.request(method)
    #expect(!WireRules.isValid(request))
    #expect(throws: WireFault.self) { try WireRules.check(request) }
  }

  @Test(arguments: ["GET", "HEAD", "POST", "DELETE", "TRACE", "PURGE"] as [HTTPMethod])
  func `HEAD and TRACE allow no body`(method: HTTPMethod) throws {
    let mayHaveOne = method != .head && method != "TRACE"
    let request = try Self.request(method, hasBody: true)
    #expect(WireRules.isValid(request) == mayHaveOne && ((try? WireRules.check(request)) != nil) == mayHaveOne)
    try WireRules.check(try Self.request(method))
  }

  @Test(arguments: [nil, 0, 5, -1, .min] as [Int64?]) func `negative body length is refused`(length: Int64?) throws {
    var request = try Self.request("PUT")
    request.body = .stream(length: length) { _ in
      throw TransportFailure(.bodySource, "The body is not read.")
    }
    let isNegative = (length ?? 0) < 0
    #expect(WireRules.isValid(request) != isNegative && ((try? WireRules.check(request)) == nil) == isNegative)
  }
}
