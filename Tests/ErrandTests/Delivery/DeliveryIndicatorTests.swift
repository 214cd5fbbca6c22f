import Errand
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// The loading indicator with real calls and a manual clock.
struct DeliveryIndicatorTests {
  private struct IndicatedRequest: APIRequest {
    typealias Response = String
    var indicator = IndicatorChoice.inherited
    var delivery: Delivery<String> { Delivery(indicator: indicator) }
    var path: Path { "/indicated" }
  }

  private let clock = ManualClock()
  private let shown = Recorded<Bool>()
  private let latch = Latch()

  private func indicator(_ name: String? = nil) -> LoadingIndicator {
    LoadingIndicator(name: name, timers: clock) { [shown] in shown.append($0) }
  }

  private func client(_ accessories: [any Accessory]) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { [latch] _ in
        try await latch.wait()
        return .text("value")
      })
    configuration.timers = clock
    configuration.timeouts.total = .never
    configuration.accessories = accessories
    configuration.overlap.joining = .never
    return APIClient(configuration)
  }

  @Test func `indicator shows and hides for long call`() async throws {
    let client = client([indicator()])
    async let value = client.send(IndicatedRequest())
    await latch.reached()
    clock.advance(by: .milliseconds(299))
    #expect(shown.all.isEmpty)
    clock.advance(by: .milliseconds(1))
    #expect(await eventually { shown.all == [true] })
    latch.open()
    _ = try await value
    #expect(clock.pending == 1, "the indicator stays for its minimum duration")
    clock.advance(by: .milliseconds(500))
    #expect(await eventually { shown.all == [true, false] })
    #expect(clock.pending == 0)
  }

  @MainActor @Test func `minimum time begins when indicator appears`() async throws {
    let client = client([indicator()])
    async let value = client.send(IndicatedRequest())
    await latch.reached()
    // The test keeps the main actor busy, so the indicator appears late.
    clock.advance(by: .milliseconds(300))
    clock.advance(by: .milliseconds(499))
    #expect(shown.all.isEmpty)
    #expect(await eventually { shown.all == [true] })
    latch.open()
    _ = try await value
    clock.advance(by: .milliseconds(499))
    #expect(clock.pending == 1, "the indicator has been visible for less than its minimum duration")
    clock.advance(by: .milliseconds(1))
    #expect(await eventually { shown.all == [true, false] })
    #expect(clock.pending == 0)
  }

  /// A clock that runs code before it returns the time.
  private final class AskedClock: Timers {
    let clock: ManualClock
    let actions = Recorded<@Sendable () -> Void>()

    init(_ clock: ManualClock) { self.clock = clock }

    var now: MonotonicInstant {
      actions.takeFirst()?()
      return clock.now
    }

    func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
      clock.schedule(at: instant, action)
    }

    func cancel(_ token: TimerToken) { clock.cancel(token) }
  }

  @MainActor @Test func `indicator does not flash`() async {
    let timers = AskedClock(clock)
    let indicator = LoadingIndicator(timers: timers) { [shown] in shown.append($0) }
    let call = CallInfo(id: 1, request: IndicatedRequest(), tag: nil, priority: .normal)
    indicator.willStart(call)
    clock.advance(by: .milliseconds(300))
    indicator.didStop(
      call, Outcome<Void>(error: nil, request: nil, response: nil, origin: nil, metrics: CallMetrics()))
    // The minimum time is over at the moment at which the main actor shows the indicator.
    timers.actions.append { [clock] in clock.advance(by: .milliseconds(500)) }
    #expect(await eventually { timers.actions.all.isEmpty })
    #expect(shown.all.isEmpty && clock.pending == 0)
  }

  @Test func `short call shows no indicator`() async throws {
    let client = client([indicator()])
    latch.open()
    _ = try await client.send(IndicatedRequest())
    clock.advance(by: .seconds(1))
    await MainActor.run {}
    #expect(shown.all.isEmpty)
    #expect(clock.pending == 0)
  }

  @Test func `cancel hides the indicator`() async {
    let client = client([indicator()])
    let call = client.start(IndicatedRequest(), on: .inPlace) { _ in }
    await latch.reached()
    clock.advance(by: .seconds(1))
    // If the main actor is late, an indicator that should have shown and hidden in the meantime is not shown at all.
    #expect(await eventually { shown.all == [true] })
    call.cancel()
    #expect(await eventually { !call.isExecuting && clock.pending == 1 })
    clock.advance(by: .milliseconds(500))
    #expect(await eventually { shown.all == [true, false] })
  }

  @Test func `released indicator is hidden`() async {
    let client = client([])
    // Only the call keeps this indicator.
    let call = client.start(
      IndicatedRequest(), on: .inPlace, options: CallOptions(accessories: [indicator()])
    ) { _ in }
    await latch.reached()
    clock.advance(by: .milliseconds(300))
    #expect(await eventually { shown.all == [true] })
    latch.open()
    #expect(await eventually { !call.isExecuting && client.running.isEmpty && clock.pending == 1 })
    clock.advance(by: .milliseconds(500))
    #expect(await eventually { shown.all == [true, false] })
    #expect(clock.pending == 0)
  }

  @Test func `requests choose their indicator`() async {
    let (plain, named) = (Recorded<Bool>(), Recorded<Bool>())
    let client = client([
      LoadingIndicator(timers: clock) { plain.append($0) },
      LoadingIndicator(name: "envoy\u{e9}", timers: clock) { named.append($0) },
    ])
    let silent = client.start(IndicatedRequest(indicator: .none), on: .inPlace) { _ in }
    await latch.reached()
    #expect(clock.pending == 0)
    // Names are compared by bytes, so this name differs from that of the indicator.
    let other = client.start(IndicatedRequest(indicator: .named("envoye\u{301}")), on: .inPlace) { _ in }
    await latch.reached(2)
    #expect(clock.pending == 0)
    let upload = client.start(IndicatedRequest(indicator: .named("envoy\u{e9}")), on: .inPlace) { _ in }
    await latch.reached(3)
    clock.advance(by: .seconds(1))
    #expect(await eventually { named.all == [true] })
    #expect(plain.all.isEmpty)
    for call in [silent, other, upload] { call.cancel() }
    #expect(await eventually { client.running.isEmpty && clock.pending == 1 })
    clock.advance(by: .seconds(1))
    #expect(await eventually { named.all == [true, false] })
    #expect(plain.all.isEmpty)
  }

  @Test func `indicator listed twice counts once`() async throws {
    let indicator = indicator()
    let client = client([indicator, indicator])
    let options = CallOptions(accessories: [indicator])
    async let value = client.send(IndicatedRequest(), options: options)
    await latch.reached()
    clock.advance(by: .seconds(1))
    #expect(await eventually { shown.all == [true] })
    latch.open()
    _ = try await value
    clock.advance(by: .seconds(1))
    #expect(await eventually { shown.all == [true, false] })
    #expect(clock.pending == 0)
  }

  @Test func `concurrent calls leave indicator hidden`() async {
    latch.open()
    for _ in 0..<rounds {
      let client = client([indicator()])
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<6 { group.addTask { _ = await client.outcome(of: IndicatedRequest()) } }
        group.addTask { clock.advance(by: .milliseconds(300)) }
      }
      // The main actor shows the indicator first. Its minimum time then begins before the clock advances.
      await MainActor.run {}
      clock.advance(by: .seconds(1))
      #expect(clock.pending == 0)
    }
    #expect(await eventually { shown.all.last != true })
  }
}
