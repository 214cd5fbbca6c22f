// A stand-in documents nothing: the package that it stands for does.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol ServiceContextKey: Sendable {
  associatedtype Value: Sendable
}

/// Values of the task. The package itself declares this type in swift-service-context.
public struct ServiceContext: Sendable {
  @TaskLocal public static var current: ServiceContext?

  public static var topLevel: ServiceContext { ServiceContext() }

  private var values: [ObjectIdentifier: any Sendable] = [:]

  public subscript<Key: ServiceContextKey>(key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

public protocol Extractor: Sendable {
  associatedtype Carrier: Sendable
  func extract(key: String, from carrier: Carrier) -> String?
}

public protocol Injector: Sendable {
  associatedtype Carrier: Sendable
  func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

public protocol Instrument: Sendable {
  func extract<Carrier, Extract>(_ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract)
  where Extract: Extractor, Extract.Carrier == Carrier
  func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
  where Inject: Injector, Inject.Carrier == Carrier
}

public enum SpanKind: Sendable, Hashable {
  case client, `internal`
}

public protocol TracerInstant: Comparable, Hashable, Sendable {
  var nanosecondsSinceEpoch: UInt64 { get }
}

public protocol Tracer: Instrument {
  associatedtype Span: Tracing.Span
  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> Span
  func forceFlush()
}

extension Tracer {
  public func startSpan(
    _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
    ofKind kind: SpanKind = .internal, at instant: @autoclosure () -> some TracerInstant,
    function: String = #function, file fileID: String = #fileID, line: UInt = #line
  ) -> Span {
    startSpan(
      operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line)
  }
}

public protocol Span: Sendable {
  var context: ServiceContext { get }
  var operationName: String { get nonmutating set }
  var attributes: SpanAttributes { get nonmutating set }
  var isRecording: Bool { get }
  func setStatus(_ status: SpanStatus)
  func addEvent(_ event: SpanEvent)
  func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant)
  func addLink(_ link: SpanLink)
  func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant)
}

extension Span {
  public func updateAttributes(_ update: (inout SpanAttributes) -> Void) {
    var attributes = attributes
    update(&attributes)
    self.attributes = attributes
  }
}

public struct SpanStatus: Sendable, Hashable {
  public enum Code: Sendable {
    case ok, error
  }

  public let code: Code

  public init(code: Code) { self.code = code }
}

public struct SpanEvent: Sendable {}

public struct SpanLink: Sendable {}

public enum SpanAttribute: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case int64(Int64)
  case double(Double)
  case bool(Bool)
  case string(String)

  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .int64(value) }
}

public struct SpanAttributes: Sendable, ExpressibleByDictionaryLiteral {
  private var values: [String: SpanAttribute]

  public init(dictionaryLiteral elements: (String, SpanAttribute)...) {
    values = Dictionary(elements) { $1 }
  }

  public func get(_ name: String) -> SpanAttribute? { values[name] }
  public mutating func set(_ name: String, value: SpanAttribute?) { values[name] = value }
}
