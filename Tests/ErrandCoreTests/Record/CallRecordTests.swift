@testable import ErrandCore
import Testing

struct CallRecordTests {
  private let record = CallRecord()

  private func instant(_ seconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
  }

  /// Starts an exchange at the transport.
  private func begin(at seconds: Int64) throws -> ExchangeRecorder {
    record.sending(try HTTPRequest(url: "http://h.example/"), at: instant(seconds))
  }

  private static func answer(_ metrics: ExchangeMetrics, status: Int = 200) throws -> HTTPResponse {
    HTTPResponse(
      head: ResponseHead(status: status), url: try HTTPRequest(url: "http://h.example/").url, metrics: metrics)
  }

  /// Metrics from a transport with two durations that differ from all others.
  private static func measured(firstByte: Duration?, total: Duration? = nil) -> ExchangeMetrics {
    var metrics = ExchangeMetrics()
    metrics.firstByte = firstByte
    metrics.total = total
    return metrics
  }

  /// The same metrics as they appear in the metrics of the call.
  private static func told(
    firstByte: Duration?, total: Duration? = nil, status: Int? = nil
  ) throws -> ExchangeMetrics {
    var metrics = measured(firstByte: firstByte, total: total)
    let request = try HTTPRequest(url: "http://h.example/")
    (metrics.method, metrics.url, metrics.status) = (request.method, request.url, status)
    return metrics
  }

  private func ended(at seconds: Int64) -> CallMetrics {
    record.ended(after: .zero, at: instant(seconds)).0
  }

  @Test func `running exchange is measured until now`() throws {
    _ = try begin(at: 2)
    #expect(try ended(at: 5).exchanges == [Self.told(firstByte: nil, total: .seconds(3))])
    #expect(try ended(at: 9).exchanges == [Self.told(firstByte: nil, total: .seconds(7))])
  }

  @Test func `metrics from the transport are kept`() throws {
    let recorder = try begin(at: 2)
    recorder.measured(Self.measured(firstByte: nil))
    recorder.measured(Self.measured(firstByte: .seconds(1)))
    #expect(try ended(at: 5).exchanges == [Self.told(firstByte: .seconds(1), total: .seconds(3))])
    recorder.failed(CallState.Stopped(reason: .cancelled), at: instant(6))
    #expect(try ended(at: 9).exchanges == [Self.told(firstByte: .seconds(1), total: .seconds(4))])
  }

  @Test func `metrics after the end are ignored`() throws {
    let recorder = try begin(at: 0)
    recorder.answered(try Self.answer(Self.measured(firstByte: .seconds(1), total: .seconds(2)), status: 302))
    recorder.measured(Self.measured(firstByte: .seconds(8)))
    #expect(
      try ended(at: 9).exchanges == [Self.told(firstByte: .seconds(1), total: .seconds(2), status: 302)])
  }

  @Test func `metrics of a failure are used`() throws {
    var failure = TransportFailure(.reset, "It broke.")
    failure.metrics = Self.measured(firstByte: .seconds(1), total: .seconds(2))
    let recorder = try begin(at: 0)
    recorder.measured(Self.measured(firstByte: .milliseconds(999)))
    recorder.failed(failure, at: instant(3))
    #expect(try ended(at: 9).exchanges == [Self.told(firstByte: .seconds(1), total: .seconds(2))])
  }

  @Test func `parallel exchanges share the first byte`() throws {
    let first = try begin(at: 0)
    first.measured(Self.measured(firstByte: .seconds(1)))
    let second = try begin(at: 2)
    #expect(record.hasFirstByte && record.begun == instant(0))
    second.failed(CallState.Stopped(reason: .expired), at: instant(9))
    first.failed(CallState.Stopped(reason: .expired), at: instant(9))
    #expect(record.hasFirstByte)
    _ = try begin(at: 10)
    #expect(!record.hasFirstByte && record.begun == instant(10))
  }

  @Test func `earlier first byte does not count`() throws {
    let first = try begin(at: 0)
    first.answered(try Self.answer(Self.measured(firstByte: .seconds(1))))
    #expect(record.hasFirstByte)
    let exchange = CallRecord()
    _ = exchange.sending(try HTTPRequest(url: "http://h.example/"), at: instant(5))
    record.take(exchange, by: instant(6))
    #expect(!record.hasFirstByte && record.begun == instant(5))
  }

  @Test func `exchanges keep their starting order`() throws {
    let first = try begin(at: 0)
    let second = try begin(at: 1)
    second.answered(try Self.answer(Self.measured(firstByte: .seconds(2))))
    first.answered(try Self.answer(Self.measured(firstByte: .seconds(1))))
    #expect(ended(at: 9).exchanges.map(\.firstByte) == [.seconds(1), .seconds(2)])
    #expect(ended(at: 9).attempts == 2)
  }

  @Test func `queue time is measured until now`() {
    record.beginWait(at: instant(1))
    record.beginWait(at: instant(2))
    #expect(ended(at: 4).queue == .seconds(5))
    record.endWait(since: instant(1), until: instant(4))
    #expect(ended(at: 5).queue == .seconds(6))
    record.endWait(since: instant(2), until: instant(5))
    #expect(ended(at: 9).queue == .seconds(6))
  }

  @Test func `leaving caller copies known metrics`() throws {
    let recorder = try begin(at: 2)
    recorder.measured(Self.measured(firstByte: .seconds(1)))
    record.beginWait(at: instant(4))
    let caller = CallRecord()
    caller.take(shared: record, isJoined: true, at: instant(5))
    recorder.answered(try Self.answer(ExchangeMetrics()))
    let metrics = caller.ended(after: .zero, at: instant(9)).0
    #expect(try metrics.exchanges == [Self.told(firstByte: .seconds(1), total: .seconds(3))])
    #expect(metrics.queue == .seconds(1) && metrics.attempts == 1 && metrics.isJoined)
  }

  @Test func `reports with other reasons differ`() {
    func report(_ reason: String, _ status: String, _ miss: CacheMiss? = nil) -> CacheReport {
      CacheReport(origin: .network, miss: miss) { isCollapsed in (reason + (isCollapsed ? " Shared." : ""), status) }
    }
    #expect(report("One.", "Errand; hit") == report("One.", "Errand; hit"))
    #expect(report("One.", "Errand; hit") != report("Two.", "Errand; hit"))
    #expect(report("One.", "Errand; hit") != report("One.", "Errand; fwd=miss"))
    #expect(report("One.", "Errand; hit") != report("One.", "Errand; hit", .missing))
    #expect(report("One.", "Errand; hit") != report("One.", "Errand; hit").collapsed)
  }
}
