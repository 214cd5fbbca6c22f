import Testing

@testable import ErrandCore

/// The texts of metrics for people.
struct CallMetricsTests {
  private func exchange() throws -> ExchangeMetrics {
    var exchange = ExchangeMetrics()
    (exchange.method, exchange.url) = (.get, try HTTPURL("https://h.example/users/7?token=sesame"))
    (exchange.status, exchange.version) = (200, .http2)
    (exchange.connect, exchange.firstByte) = (.microseconds(5_120), .milliseconds(30))
    exchange.total = .milliseconds(1_234)
    (exchange.bytesSent, exchange.bytesReceived) = (120, 480)
    (exchange.isConnectionReused, exchange.remoteAddress, exchange.remotePort) = (false, "192.0.2.7", 443)
    return exchange
  }

  @Test func `exchange is one line`() throws {
    let text = try exchange().description
    #expect(text.hasPrefix("GET https://h.example/users/7") && !text.contains("sesame"))
    #expect(
      text.hasSuffix(
        " → 200 HTTP/2: connected at 5.1 ms, first byte at 30.0 ms, ended at 1.23 s; 120 bytes sent, "
          + "480 bytes received; new connection to 192.0.2.7 port 443"))
  }

  @Test func `exchange without measurements is readable`() {
    #expect("\(ExchangeMetrics())" == "exchange → no response; 0 bytes sent, 0 bytes received")
  }

  @Test func `call without measurements is readable`() {
    #expect("\(CallMetrics())" == "0.0 ms in total, 0 attempts")
  }

  @Test func `joined call is named`() {
    var metrics = CallMetrics()
    metrics.isJoined = true
    #expect("\(metrics)" == "0.0 ms in total, 0 attempts, joined the exchange of another call")
  }

  @Test func `call lists retries and exchanges`() throws {
    var metrics = CallMetrics()
    (metrics.total, metrics.queue, metrics.decode) = (.seconds(2), .milliseconds(3), .microseconds(400))
    (metrics.attempts, metrics.redirects) = (2, 1)
    metrics.retries = [RetryMetrics(reason: .status(503), delay: .milliseconds(310))]
    metrics.cache = CacheReport(origin: .network) { _ in ("Nothing is stored.", "Errand; fwd=miss") }
    metrics.exchanges = [ExchangeMetrics(), try exchange()]
    let lines = metrics.description.split(separator: "\n").map(String.init)
    #expect(
      lines.prefix(3) == [
        "2.0 s in total, 2 attempts, 1 redirect, 3.0 ms in the queue, 0.4 ms to decode",
        "cache: Nothing is stored.", "retry after 310.0 ms: status 503",
      ])
    #expect(lines.count == 5 && lines[3].hasPrefix("exchange → no response") && lines[4].hasPrefix("GET https"))
  }
}
