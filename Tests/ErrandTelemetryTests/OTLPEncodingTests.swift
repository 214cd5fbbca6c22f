import ErrandJSON
import Foundation
import Testing

@testable import ErrandTelemetry

struct OTLPEncodingTests {
  private let context = TraceContext(
    traceparent: "00-5b8efff798038103d269b633813fc60c-eee19b7ec3c1b174-03", tracestate: ["rojo=1"])

  @Test func `span has the exact form`() throws {
    let span = Span(
      name: "GET \"/a\"", kind: .client, context: try #require(context), parent: SpanID("eee19b7ec3c1b173"),
      start: 1_544_712_660_000_000_000, end: .max,
      attributes: ["int": 9_007_199_254_740_993, "text": "é\n", "flag": true, "number": .double(0.5)], status: .error)
    #expect(
      String(decoding: OTLPEncoding.span(span), as: UTF8.self)
        == #"{"attributes":[{"key":"flag","value":{"boolValue":true}},"#
        + #"{"key":"int","value":{"intValue":"9007199254740993"}},{"key":"number","value":{"doubleValue":0.5}},"#
        + #"{"key":"text","value":{"stringValue":"é\n"}}],"endTimeUnixNano":"18446744073709551615","flags":3,"kind":3,"#
        + #""name":"GET \"/a\"","parentSpanId":"eee19b7ec3c1b173","spanId":"eee19b7ec3c1b174","#
        + #""startTimeUnixNano":"1544712660000000000","status":{"code":2},"traceId":"5b8efff798038103d269b633813fc60c","#
        + #""traceState":"rojo=1"}"#)
  }

  @Test func `span without parent and state has no such members`() throws {
    let context = TraceContext(traceID: .random(), spanID: .random())
    let span = Span(name: "x", kind: .internal, context: context, parent: nil, start: 0, end: 0)
    let value = try JSONValue(parsing: Data(OTLPEncoding.span(span)))
    #expect(value["parentSpanId"] == nil)
    #expect(value["traceState"] == nil)
    #expect(value["status"] == [:])
    #expect(value["kind"] == 1)
  }

  @Test func `body has resource, scope and schema`() throws {
    let encoding = OTLPEncoding(resource: ["service.name": "notes"])
    let value = try JSONValue(parsing: encoding.body(ofSpans: [Array("1".utf8), Array("2".utf8)]))
    #expect(
      value == [
        "resourceSpans": [
          [
            "resource": ["attributes": [["key": "service.name", "value": ["stringValue": "notes"]]]],
            "scopeSpans": [
              [
                "scope": ["name": "errand"], "spans": [1, 2],
                "schemaUrl": "https://opentelemetry.io/schemas/1.44.0",
              ]
            ],
          ]
        ]
      ])
  }

  @Test func `metrics are cumulative`() throws {
    var store = MetricStore()
    let histogram = Instrument(name: "h", unit: "s", summary: "d", kind: .histogram([0.5, 1]))
    store.add(0.25, histogram, ["a": "b"])
    store.add(4, histogram, ["a": "b"])
    store.add(-2, .activeRequests, [:])
    let body = OTLPEncoding(resource: [:]).body(of: store, from: 1, to: 2)
    let metrics = try JSONValue(parsing: body)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    #expect(
      metrics == [
        [
          "name": "h", "unit": "s", "description": "d",
          "histogram": [
            "aggregationTemporality": 2,
            "dataPoints": [
              [
                "attributes": [["key": "a", "value": ["stringValue": "b"]]], "startTimeUnixNano": "1",
                "timeUnixNano": "2", "count": "2", "sum": 4.25, "bucketCounts": ["1", "0", "1"],
                "explicitBounds": [0.5, 1], "min": 0.25, "max": 4,
              ]
            ],
          ],
        ],
        [
          "name": "http.client.active_requests", "unit": "{request}", "description": "Number of active HTTP requests.",
          "sum": [
            "aggregationTemporality": 2, "isMonotonic": false,
            "dataPoints": [
              ["attributes": [], "startTimeUnixNano": "1", "timeUnixNano": "2", "asDouble": -2]
            ],
          ],
        ],
      ])
  }

  @Test func `metric that cannot be encoded is left out`() throws {
    var store = MetricStore()
    store.add(1, Instrument(name: "h", unit: "s", summary: "", kind: .histogram([1, .infinity])), [:])
    store.add(1, .activeRequests, [:])
    let body = OTLPEncoding(resource: [:]).body(of: store, from: 1, to: 2)
    let metrics = try JSONValue(parsing: body)["resourceMetrics"]?[0]?["scopeMetrics"]?[0]?["metrics"]
    #expect(metrics?.arrayValue?.map { $0["name"] } == ["http.client.active_requests"])
  }

  @Test(arguments: [(Double.nan, "NaN"), (.infinity, "Infinity"), (-.infinity, "-Infinity")])
  func `number that is not finite is a string`(_ number: Double, _ text: String) throws {
    let span = Span(
      name: "x", kind: .internal, context: .root(), parent: nil, start: 0, end: 0, attributes: ["n": .double(number)])
    let value = try JSONValue(parsing: Data(OTLPEncoding.span(span)))
    #expect(value["attributes"]?[0]?["value"]?["doubleValue"] == .string(text))
  }
}
