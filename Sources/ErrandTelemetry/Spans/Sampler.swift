/// Decides which traces are recorded. The decision is made once for each call; its attempts follow it.
public indirect enum Sampler: Sendable, Hashable {
  /// Every trace is recorded.
  case always
  /// No trace is recorded. The trace context is still sent, with the flag `sampled` off.
  case never
  /// A share of all traces is recorded, from 0 to 1. The decision depends only on the identity of the trace, so that all
  /// services with the same ratio record the same traces.
  case ratio(Double)
  /// The decision of the parent applies. A call without a parent asks the other sampler.
  case parent(orElse: Sampler)

  /// Whether a call is recorded.
  ///
  /// - Parameters:
  ///   - parent: The context of the task that started the call; nil if there is none.
  ///   - traceID: The trace of the call.
  public func samples(_ traceID: TraceID, parent: TraceContext?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .ratio(let ratio): traceID.low & Self.randomBits >= Self.threshold(ratio)
    case .parent(let other): parent?.isSampled ?? other.samples(traceID, parent: nil)
    }
  }

  /// The 7 rightmost bytes of a trace's identity, which are random (W3C Trace Context Level 2, section 3.2.2.3).
  private static let randomBits: UInt64 = 1 << 56 - 1

  /// The smallest random number that is sampled: the rejection threshold of OpenTelemetry's consistent sampling.
  private static func threshold(_ ratio: Double) -> UInt64 {
    guard ratio > 0 else { return .max }
    return UInt64((1 - min(ratio, 1)) * 0x1p56)
  }
}
