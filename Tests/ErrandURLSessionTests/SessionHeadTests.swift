import ErrandCore
import Foundation
import Testing

@testable import ErrandURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct SessionHeadTests {
  @Test(arguments: [
    ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2; Path=/", ["a=1", "b=2; Path=/"]),
    (
      "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, b=2; Expires=Thu, 22 Oct 2026 07:28:00 GMT",
      ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2; Expires=Thu, 22 Oct 2026 07:28:00 GMT"]
    ),
    ("a=1; Expires=Wed, 21-Oct-26 07:28:00 GMT", ["a=1; Expires=Wed, 21-Oct-26 07:28:00 GMT"]),
    ("a=\"x, y\"; Path=/", ["a=\"x, y\"; Path=/"]), ("a=, b=", ["a=", "b="]), ("", [""]),
    ("a=1, b=\u{301}x", ["a=1", "b=\u{301}x"]),
  ])
  func `joined cookies are split`(text: String, cookies: [String]) {
    #expect(SetCookieList.values(of: text) == cookies)
  }

  @Test func `fields are sorted by name`() {
    let fields = ResponseHead.fields([("X-B", " 2\t"), ("Set-Cookie", "a=1, b=2"), ("X-A", "1")])
    #expect(fields.map(\.name.rawValue) == ["Set-Cookie", "Set-Cookie", "X-A", "X-B"])
    #expect(fields.map(\.value) == ["a=1", "b=2", "1", "2"])
  }

  @Test func `only spaces and tabs are trimmed`() {
    let fields = ResponseHead.fields([("X-A", "\t \u{A0}1\u{3000} \t")])
    #expect(fields.map { Array($0.value.utf8) } == [Array("\u{A0}1\u{3000}".utf8)])
  }

  @Test func `a coded body has no countable length`() {
    #expect(ResponseHead(status: 200, fields: ["Content-Length": "7"]).countableLength == 7)
    #expect(
      ResponseHead(status: 200, fields: ["Content-Length": "7", "Content-Encoding": "identity"]).countableLength == 7)
    #expect(
      ResponseHead(status: 200, fields: ["Content-Length": "7", "Content-Encoding": "gzip"]).countableLength == nil)
    #expect(ResponseHead(status: 200).countableLength == nil)
  }

  @Test func `dates become durations`() {
    var times = SessionTimes()
    let start = Date(timeIntervalSinceReferenceDate: 0)
    times.fetchStart = start
    times.nameLookupEnd = start + 0.25
    times.connectEnd = start + 0.5
    times.responseStart = start + 1
    times.responseEnd = start + 2
    times.protocolName = "h2"
    times.isReused = false
    var metrics = ExchangeMetrics(times)
    #expect(metrics.nameLookup == .milliseconds(250))
    #expect(metrics.connect == .milliseconds(500))
    #expect(metrics.firstByte == .seconds(1))
    #expect(metrics.total == .seconds(2))
    #expect(metrics.version == .http2)
    #expect(metrics.isConnectionReused == false)
    times.tlsEnd = start + 0.5
    metrics = ExchangeMetrics(times)
    #expect(metrics.connect == nil)
    #expect(metrics.tls == .milliseconds(500))
    times.bytesSent = 7
    times.bytesReceived = 9
    times.remoteAddress = "192.0.2.1"
    times.remotePort = 443
    metrics = ExchangeMetrics(times)
    #expect(metrics.bytesSent == 7)
    #expect(metrics.bytesReceived == 9)
    #expect(metrics.remoteAddress == "192.0.2.1" && metrics.remotePort == 443)
    times.fetchStart = nil
    #expect(ExchangeMetrics(times).total == nil)
  }
}
