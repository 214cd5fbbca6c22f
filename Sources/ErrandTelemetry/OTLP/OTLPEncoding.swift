import ErrandJSON
import Foundation

/// Encodes spans and metrics as OTLP/JSON: the messages of opentelemetry-proto 1.11 with names in lowerCamelCase, 64-bit
/// integers as decimal strings, enumerations as numbers, and the identities of spans as hexadecimal digits.
///
/// A sample with one span:
///
/// ```json
/// {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"notes"}}]},
///  "scopeSpans":[{"scope":{"name":"errand"},"spans":[{"traceId":"5b8e…","spanId":"eee1…","name":"GET /notes/{1}",
///  "kind":3,"startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712661000000000","attributes":[…],
///  "status":{}}],"schemaUrl":"https://opentelemetry.io/schemas/1.44.0"}]}]}
/// ```
struct OTLPEncoding: Sendable {
  private static let schema = "https://opentelemetry.io/schemas/1.44.0"
  private let spanHead, metricHead, tail: [UInt8]

  /// - Parameter resource: The attributes of the process that sends, such as `service.name`.
  init(resource: Attributes) {
    let resource = Self.text(.object(["attributes": Self.list(resource)]))
    let scope = Self.text(.object(["name": "errand"]))
    spanHead = Self.head("Spans", "spans", resource, scope)
    metricHead = Self.head("Metrics", "metrics", resource, scope)
    tail = Array(#"],"schemaUrl":"\#(Self.schema)"}]}]}"#.utf8)
  }

  private static func head(_ suffix: String, _ list: String, _ resource: [UInt8], _ scope: [UInt8]) -> [UInt8] {
    var head = Array("{\"resource\(suffix)\":[{\"resource\":".utf8)
    head += resource
    head += ",\"scope\(suffix)\":[{\"scope\":".utf8
    head += scope
    head += ",\"\(list)\":[".utf8
    return head
  }

  /// The body of a request with spans.
  ///
  /// - Parameter spans: Spans that ``span(_:)`` has encoded.
  func body(ofSpans spans: [[UInt8]]) -> Data { Data(spanHead + spans.joined(separator: ",".utf8) + tail) }

  /// The body of a request with metrics. A metric that JSON cannot express, because a bound is not finite, is left out.
  ///
  /// - Parameters:
  ///   - start: The time since which the values are combined, in nanoseconds since 1970.
  ///   - now: The present.
  func body(of metrics: MetricStore, from start: UInt64, to now: UInt64) -> Data {
    let encoded = metrics.series.compactMap { try? Array(Self.value($0, start, now).serialized()) }
    return Data(metricHead + encoded.joined(separator: ",".utf8) + tail)
  }

  // MARK: - Spans

  static func span(_ span: Span) -> [UInt8] {
    var value: [String: JSONValue] = [
      "traceId": .string("\(span.context.traceID)"), "spanId": .string("\(span.context.spanID)"),
      "flags": .integer(Int64(span.context.flags.rawValue)), "name": .string(span.name),
      "kind": .integer(Int64(span.kind.rawValue)), "startTimeUnixNano": integer(span.start),
      "endTimeUnixNano": integer(span.end), "attributes": list(span.attributes),
      "status": .object(span.status == .unset ? [:] : ["code": .integer(Int64(span.status.rawValue))]),
    ]
    if let parent = span.parent { value["parentSpanId"] = .string("\(parent)") }
    let state = span.context.state.text
    if !state.isEmpty { value["traceState"] = .string(state) }
    return text(.object(value))
  }

  // MARK: - Metrics

  private static func value(_ series: MetricStore.Series, _ start: UInt64, _ now: UInt64) -> JSONValue {
    let instrument = series.instrument
    let points = series.points.map { attributes, point in
      JSONValue.object(
        members(of: point).merging([
          "attributes": list(attributes), "startTimeUnixNano": integer(start), "timeUnixNano": integer(now),
        ]) { $1 })
    }
    var data: [String: JSONValue] = ["dataPoints": .array(points), "aggregationTemporality": cumulative]
    let name: String
    switch instrument.kind {
    case .histogram: name = "histogram"
    case .upDownCounter: (name, data["isMonotonic"]) = ("sum", false)
    }
    return .object([
      "name": .string(instrument.name), "unit": .string(instrument.unit), "description": .string(instrument.summary),
      name: .object(data),
    ])
  }

  /// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
  private static let cumulative: JSONValue = 2

  private static func members(of point: MetricStore.Point) -> [String: JSONValue] {
    switch point {
    case .sum(let value): return ["asDouble": .number(value)]
    case .histogram(let histogram):
      var members: [String: JSONValue] = [
        "count": integer(histogram.count), "sum": .number(histogram.sum),
        "bucketCounts": .array(histogram.counts.map(integer)),
        "explicitBounds": .array(histogram.bounds.map { .number($0) }),
      ]
      if histogram.count > 0 {
        (members["min"], members["max"]) = (.number(histogram.least), .number(histogram.greatest))
      }
      return members
    }
  }

  // MARK: - Values

  private static func list(_ attributes: Attributes) -> JSONValue {
    .array(
      attributes.sorted { $0.key < $1.key }.map { key, value in
        .object(["key": .string(key), "value": .object(self.value(value))])
      })
  }

  private static func value(_ value: AttributeValue) -> [String: JSONValue] {
    switch value {
    case .string(let text): ["stringValue": .string(text)]
    case .int(let number): ["intValue": .string(String(number))]
    case .bool(let flag): ["boolValue": .bool(flag)]
    case .double(let number): ["doubleValue": self.number(number)]
    }
  }

  /// Protobuf's JSON mapping writes numbers that are not finite as strings.
  private static func number(_ number: Double) -> JSONValue {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    return .number(number)
  }

  private static func integer(_ number: UInt64) -> JSONValue { .string(String(number)) }

  /// A text for values without numbers that are not finite, which cannot fail. An empty message is valid everywhere.
  private static func text(_ value: JSONValue) -> [UInt8] { Array((try? value.serialized()) ?? Data("{}".utf8)) }
}
