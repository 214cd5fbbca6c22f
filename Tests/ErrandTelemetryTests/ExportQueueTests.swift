import ErrandSupport
import Testing

@testable import ErrandTelemetry

struct ExportQueueTests {
  private static func queue(batch: Int = 2, queue: Int = 5) -> ExportQueue {
    ExportQueue(.init(batch: batch, queue: queue))
  }

  static func span(_ name: String = "x") -> Span {
    Span(name: name, kind: .client, context: .root(), parent: nil, start: 1, end: 2)
  }

  @Test func `first span sets a timer`() {
    var queue = Self.queue()
    #expect(queue.add(Self.span()) == .setTimer)
    #expect(!queue.isSending)
  }

  @Test func `full batch is sent at once`() {
    var queue = Self.queue()
    _ = queue.add(Self.span("a"))
    #expect(queue.add(Self.span("b")) == .send)
    #expect(queue.add(Self.span("c")) == .none)
    #expect(queue.next().map(\.name) == ["a", "b"])
    #expect(queue.next().isEmpty)
    #expect(!queue.isSending)
    // The timer of the first span is still set.
    #expect(queue.timerIfNeeded() == .none)
    #expect(queue.timerFired() == .send)
    #expect(queue.next().map(\.name) == ["c"])
  }

  @Test func `rest after a batch gets a timer`() {
    var queue = Self.queue(batch: 1)
    #expect(queue.add(Self.span("a")) == .send)
    #expect(queue.next().count == 1)
    #expect(queue.next().isEmpty)
    #expect(queue.timerIfNeeded() == .none)
  }

  @Test func `flush sends only the spans of its moment`() {
    var queue = Self.queue(batch: 2)
    _ = (queue.add(Self.span("a")), queue.flush())
    #expect(queue.next().map(\.name) == ["a"])
    #expect(queue.add(Self.span("b")) == .none)
    #expect(queue.next().isEmpty)
    #expect(queue.timerIfNeeded() == .none)
    #expect(queue.timerFired() == .send)
    #expect(queue.add(Self.span("c")) == .none)
    #expect(queue.add(Self.span("d")) == .none)
    #expect(queue.next().map(\.name) == ["b", "c"])
    #expect(queue.next().isEmpty)
    #expect(queue.timerIfNeeded() == .setTimer)
  }

  @Test func `flush while a batch is sent adds its spans`() {
    var queue = Self.queue(batch: 2)
    _ = (queue.add(Self.span("a")), queue.flush(), queue.next())
    _ = (queue.add(Self.span("b")), queue.add(Self.span("c")), queue.add(Self.span("d")))
    #expect(queue.flush() == .none)
    #expect(queue.add(Self.span("e")) == .none)
    #expect(queue.next().map(\.name) == ["b", "c"])
    #expect(queue.next().map(\.name) == ["d", "e"])
    #expect(queue.add(Self.span("f")) == .none)
    #expect(queue.next().isEmpty)
  }

  @Test func `span that arrives while a partial batch is sent gets a timer`() {
    var queue = Self.queue(batch: 2)
    _ = (queue.add(Self.span()), queue.add(Self.span()))
    #expect(queue.timerFired() == .none)
    #expect(queue.next().count == 2)
    #expect(queue.next().isEmpty)
    _ = (queue.add(Self.span()), queue.add(Self.span()), queue.add(Self.span()))
    #expect(queue.next().count == 2)
    #expect(queue.next().isEmpty)
    #expect(queue.waiting.count == 1)
  }

  @Test func `flush sends a partial batch`() {
    var queue = Self.queue()
    _ = queue.add(Self.span())
    #expect(queue.flush() == .send)
    #expect(queue.flush() == .none)
    #expect(queue.next().count == 1)
    #expect(queue.next().isEmpty)
  }

  @Test func `span beyond the limit is dropped`() {
    var queue = Self.queue(batch: 100)
    for _ in 0..<8 { _ = queue.add(Self.span()) }
    #expect(queue.waiting.count == 5)
    #expect(queue.dropped == 3)
  }

  @Test func `closed queue drops spans and sends the rest`() {
    var queue = Self.queue()
    _ = queue.add(Self.span())
    queue.close()
    #expect(queue.add(Self.span()) == .none)
    #expect(queue.dropped == 1)
    #expect(queue.flush() == .send)
    #expect(queue.next().count == 1)
  }

  @Test(
    arguments: [
      ([], []), ([3], [0..<1]), ([10], [0..<1]), ([9], [0..<1]), ([4, 4], [0..<2]), ([4, 5], [0..<1, 1..<2]),
      ([5, 4, 4, 4], [0..<1, 1..<3, 3..<4]), ([11], []), ([3, 11, 3], [0..<1, 2..<3]), ([11, 3], [1..<2]),
      ([3, 11], [0..<1]), ([11, 11], []),
    ] as [([Int], [Range<Int>])])
  func `bodies have at most the limit`(_ sizes: [Int], _ ranges: [Range<Int>]) {
    #expect(ExportSplit.ranges(sizes, limit: 10) == ranges)
  }
}

struct MetricStoreTests {
  @Test func `value belongs to the bucket below its bound`() {
    var histogram = MetricStore.Histogram([1, 2])
    for value in [0, 1, 1.5, 2, 3, .nan, .infinity] as [Double] { histogram.add(value) }
    #expect(histogram.counts == [2, 2, 1])
    #expect(histogram.count == 5)
    #expect(histogram.sum == 7.5)
    #expect((histogram.least, histogram.greatest) == (0, 3))
  }

  @Test func `attributes separate points`() {
    var store = MetricStore()
    store.add(1, .activeRequests, ["a": 1])
    store.add(1, .activeRequests, ["a": 2])
    store.add(-1, .activeRequests, ["a": 1])
    #expect(store.series.map(\.points) == [[["a": 1]: .sum(0), ["a": 2]: .sum(1)]])
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `value that is not finite is left out`(_ value: Double) {
    var store = MetricStore()
    store.add(value, .requestDuration, [:])
    store.add(value, .activeRequests, [:])
    #expect(store.series.isEmpty)
    store.add(2, .activeRequests, [:])
    store.add(value, .activeRequests, [:])
    #expect(store.series.map(\.points) == [[[:]: .sum(2)]])
  }

  @Test func `sum stays finite`() {
    var store = MetricStore()
    var histogram = MetricStore.Histogram([1])
    for _ in 0..<2 {
      store.add(.greatestFiniteMagnitude, .activeRequests, [:])
      histogram.add(.greatestFiniteMagnitude)
    }
    #expect(store.series.map(\.points) == [[[:]: .sum(.greatestFiniteMagnitude)]])
    #expect(histogram.sum == .greatestFiniteMagnitude)
    #expect(histogram.count == 1)
  }

  @Test func `number of points is limited`() {
    var store = MetricStore()
    for number in 0..<(2 * MetricStore.mostPoints) { store.add(1, .activeRequests, ["n": .int(Int64(number))]) }
    store.add(1, .activeRequests, ["n": 0])
    let points = store.series.first?.points ?? [:]
    #expect(points.count == MetricStore.mostPoints)
    #expect(points[["n": 0]] == .sum(2))
    #expect(points[["otel.metric.overflow": true]] == .sum(Double(MetricStore.mostPoints + 1)))
  }
}
