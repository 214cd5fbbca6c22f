// A stand-in documents nothing: the package that it stands for does.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol MetricsFactory: Sendable {
  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler
  func destroyCounter(_ handler: any CounterHandler)
  func destroyMeter(_ handler: any MeterHandler)
  func destroyRecorder(_ handler: any RecorderHandler)
  func destroyTimer(_ handler: any TimerHandler)
}

public protocol CounterHandler: AnyObject, Sendable {
  func increment(by amount: Int64)
  func reset()
}

public protocol MeterHandler: AnyObject, Sendable {
  func set(_ value: Int64)
  func set(_ value: Double)
  func increment(by amount: Double)
  func decrement(by amount: Double)
}

public protocol RecorderHandler: AnyObject, Sendable {
  func record(_ value: Int64)
  func record(_ value: Double)
}

public protocol TimerHandler: AnyObject, Sendable {
  func recordNanoseconds(_ duration: Int64)
}

public enum MetricsSystem {
  /// A factory that records nothing.
  public static var factory: any MetricsFactory { Nothing() }
}

public final class Meter: Sendable {
  private let handler: any MeterHandler

  public init(label: String, dimensions: [(String, String)] = [], factory: any MetricsFactory) {
    handler = factory.makeMeter(label: label, dimensions: dimensions)
  }

  public func increment(by amount: some BinaryFloatingPoint) { handler.increment(by: Double(amount)) }
  public func decrement(by amount: some BinaryFloatingPoint) { handler.decrement(by: Double(amount)) }
}

public final class Recorder: Sendable {
  private let handler: any RecorderHandler

  public init(
    label: String, dimensions: [(String, String)] = [], aggregate: Bool = true, factory: any MetricsFactory
  ) {
    handler = factory.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
  }

  public func record(_ value: some BinaryFloatingPoint) { handler.record(Double(value)) }
}

public final class Timer: Sendable {
  private let handler: any TimerHandler

  public init(label: String, dimensions: [(String, String)] = [], factory: any MetricsFactory) {
    handler = factory.makeTimer(label: label, dimensions: dimensions)
  }

  public func recordSeconds(_ duration: some BinaryFloatingPoint) {
    handler.recordNanoseconds(Int64(Double(duration) * 1_000_000_000))
  }
}

private final class Nothing: MetricsFactory, CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { self }
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { self }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler { self }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { self }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
  func increment(by amount: Int64) {}
  func reset() {}
  func set(_ value: Int64) {}
  func set(_ value: Double) {}
  func increment(by amount: Double) {}
  func decrement(by amount: Double) {}
  func record(_ value: Int64) {}
  func record(_ value: Double) {}
  func recordNanoseconds(_ duration: Int64) {}
}
