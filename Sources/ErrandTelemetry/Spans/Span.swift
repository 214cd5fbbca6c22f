/// A finished span in a trace: one call, one attempt of a call, or one run of a group.
public struct Span: Sendable, Hashable {
  /// The role of a span. The raw values are those of OTLP.
  public enum Kind: Int, Sendable, Hashable {
    /// A call or a group: the work in this process, which may include several attempts or calls.
    case `internal` = 1
    /// One attempt: a request to a server and its response.
    case client = 3
  }

  /// Whether the work of a span failed. The raw values are those of OTLP.
  public enum Status: Int, Sendable, Hashable {
    /// The work did not fail, or the caller cancelled it.
    case unset = 0
    /// The work failed. The attribute `error.type` contains the reason.
    case error = 2
  }

  /// The name, such as `GET /notes/{id}`. It contains no values of the request.
  public var name: String
  /// The role of the span.
  public var kind: Kind
  /// The trace and the identity of the span.
  public var context: TraceContext
  /// The span that caused this span; nil for the first span of a trace.
  public var parent: SpanID?
  /// The start on the wall clock, in nanoseconds since 1970.
  public var start: UInt64
  /// The end, in nanoseconds since 1970. The distance to ``start`` is measured with the monotonic clock.
  public var end: UInt64
  /// The attributes.
  public var attributes: Attributes
  /// Whether the work failed.
  public var status: Status

  /// Makes a span.
  public init(
    name: String, kind: Kind, context: TraceContext, parent: SpanID?, start: UInt64, end: UInt64,
    attributes: Attributes = [:], status: Status = .unset
  ) {
    (self.name, self.kind, self.context, self.parent) = (name, kind, context, parent)
    (self.start, self.end, self.attributes, self.status) = (start, end, attributes, status)
  }
}

/// The attributes of a span, a measurement or a resource, by their names.
public typealias Attributes = [String: AttributeValue]

/// The value of an attribute.
public enum AttributeValue: Sendable, Hashable {
  /// A text.
  case string(String)
  /// An integer.
  case int(Int64)
  /// A number.
  case double(Double)
  /// A Boolean value.
  case bool(Bool)
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  /// Makes a text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes an integer.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// Makes a Boolean value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension AttributeValue: CustomStringConvertible {
  /// The value as text, without quotation marks.
  public var description: String {
    switch self {
    case .string(let text): text
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    }
  }
}

/// Receives finished spans, for example to send them to a collector. ``OTLPExporter`` is one.
///
/// ```swift
/// struct PrintingExporter: SpanExporter {
///   func export(_ span: Span) { print(span.name, span.status) }
/// }
/// ```
public protocol SpanExporter: Sendable {
  /// Receives a span that has ended and is sampled, on the thread that ended it. The function must return quickly and
  /// must not block, because the caller of the request waits for it.
  func export(_ span: Span)
}
