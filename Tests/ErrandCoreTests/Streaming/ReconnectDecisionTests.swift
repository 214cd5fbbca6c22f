import Testing

@testable import ErrandCore

struct ReconnectDecisionTests {
  private static func wire(_ kind: TransportFailure.Kind) -> APIError {
    APIError(.transport, .init(rawValue: kind.rawValue), "", cause: TransportFailure(kind, ""))
  }

  private func decide(
    _ ended: ReconnectDecision.ConnectionEnd, _ rule: ReconnectRule = .standard, failures: Int = 1,
    serverDelay: Duration? = nil, chance: Double = 0
  ) -> ReconnectDecision {
    ReconnectDecision.decide(ended, rule, failures: failures, serverDelay: serverDelay, chance: chance)
  }

  @Test func `ended response reconnects`() {
    #expect(decide(.end) == .connect(after: .seconds(3)))
    #expect(decide(.end, .never) == .stop)
  }

  @Test func `delays double up to the longest`() {
    let waits = (1...7).map { decide(.end, failures: $0) }
    #expect(waits == [3, 6, 12, 24, 48, 60, 60].map { .connect(after: .seconds($0)) })
    #expect(decide(.end, failures: 11) == .stop)
    #expect(decide(.end, ReconnectRule(attempts: .max), failures: .max) == .connect(after: .seconds(60)))
  }

  @Test func `server's retry time is used`() {
    #expect(decide(.end, serverDelay: .milliseconds(200)) == .connect(after: .milliseconds(200)))
    #expect(decide(.end, serverDelay: .seconds(600)) == .connect(after: .seconds(600)))
    let busy = ReconnectDecision.ConnectionEnd.failure(Self.wire(.reset), retryAfter: .seconds(90))
    #expect(decide(busy) == .connect(after: .seconds(90)))
  }

  @Test func `server's retry time has a minimum`() {
    for serverDelay in [Duration.zero, .milliseconds(1), .seconds(-5)] {
      #expect(decide(.end, serverDelay: serverDelay) == .connect(after: .milliseconds(100)))
    }
    #expect(decide(.end, ReconnectRule(delay: .zero)) == .connect(after: .zero), "the app may choose zero")
  }

  @Test func `jitter adds at most half`() {
    #expect(decide(.end, chance: 1) == .connect(after: .milliseconds(4_500)))
    #expect(decide(.end, chance: 7) == .connect(after: .milliseconds(4_500)))
  }

  @Test(arguments: [
    TransportFailure.Kind.reset, .truncated, .idleTimeout, .connectTimeout, .refused, .nameLookup,
    .closedBeforeResponse, .offline,
  ])
  func `connection failures reconnect`(kind: TransportFailure.Kind) {
    #expect(decide(.failure(Self.wire(kind), retryAfter: nil)) == .connect(after: .seconds(3)))
  }

  @Test(arguments: [
    APIError(.authorize, .refreshUnavailable, ""), APIError(.admission, .circuitOpen, ""), APIError.queueFull(1),
    .incompleteBody,
  ])
  func `obstacles within the client reconnect`(error: APIError) {
    #expect(decide(.failure(error, retryAfter: nil)) == .connect(after: .seconds(3)))
  }

  @Test func `cut compressed stream reconnects after lines`() {
    let cut = Self.wire(.undecodableContent)
    #expect(decide(.failure(cut, retryAfter: nil, hasLines: true)) == .connect(after: .seconds(3)))
    #expect(decide(.failure(cut, retryAfter: nil, hasLines: false)) == .stop)
    #expect(decide(.failure(Self.wire(.malformedResponse), retryAfter: nil, hasLines: true)) == .stop)
  }

  @Test(arguments: [
    wire(.pinMismatch), wire(.malformedResponse), wire(.undecodableContent), .stopped(.cancelled), .stopped(.expired),
    APIError(.validate, .contentType, ""), APIError(.build, .invalidURL, ""), .lineTooLong(5),
    APIError(.authorize, .refreshFailed, ""), APIError(.authorize, .noCredential, ""), .draining,
  ])
  func `permanent failures do not reconnect`(error: APIError) {
    #expect(decide(.failure(error, retryAfter: nil)) == .stop)
  }
}
