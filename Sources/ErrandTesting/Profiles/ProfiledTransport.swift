public import ErrandCore

/// Makes a transport as slow and as unreliable as a ``NetworkProfile`` says: any transport, scripted, replayed or real.
///
/// ```swift
/// let clock = ManualClock()
/// configuration.transport = .own(ProfiledTransport(replay, .edge))
/// configuration.timers = clock
/// …
/// await clock.waitForTimers(2)          // the deadline, and the network
/// clock.advance(by: .seconds(3))        // three seconds of EDGE, at once
/// ```
///
/// It waits on the clock of the call, so a ``ManualClock`` there makes every network pass without sleeping. What chance
/// does is drawn from a seed, exchange by exchange in the order in which they begin: the same test meets the same
/// network each time.
///
/// A body in memory goes up before, and comes down after, the transport behind is asked, in one wait each; so does a
/// file that the transport behind must have whole. Bodies that stream are slowed down piece by piece. An exchange that
/// is lost fails with `reset` after the latency, and the transport behind does not see it.
public final class ProfiledTransport: Transport {
  private let base: any Transport
  private let profile: NetworkProfile
  private let clock: (any Timers)?
  private let weather: NetworkWeather

  /// Makes a transport.
  /// - Parameters:
  ///   - base: The transport that does the work.
  ///   - profile: What the network is like.
  ///   - clock: What it waits on; nil for the clock of each call.
  ///   - seed: What chance begins with.
  public init(_ base: any Transport, _ profile: NetworkProfile, clock: (any Timers)? = nil, seed: UInt64 = 1) {
    self.base = base
    self.profile = profile
    self.clock = clock
    weather = NetworkWeather(profile, seed: seed)
    LeakCheck.current?.watch(self, "ProfiledTransport")
  }

  /// Those of the transport behind it.
  public var capabilities: TransportCapabilities { base.capabilities }
  /// Those of the transport behind it.
  public var contentCodings: [String] { base.contentCodings }
  /// Those of the transport behind it.
  public var timers: (any Timers)? { base.timers }
  /// That of the base.
  public var identity: String? { base.identity }

  /// Waits, sends by the transport behind it, and waits again.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let draw = weather.next()
    let clock = clock ?? exchange.call.timers
    if draw.isLost {
      try await Self.pause(draw.latency, exchange.call, clock)
      throw TransportFailure(.reset, "The network profile lost the exchange, as it does with \(profile.loss) of all.")
    }
    let up = Pace(rate: profile.uploadRate, clock: clock)
    let down = Pace(rate: profile.downloadRate, clock: clock)
    defer {
      up.end()
      down.end()
    }
    let sent = up.duration(of: exchange.request.body.map { sentWhole($0) } ?? 0)
    try await Self.pause(draw.latency + sent, exchange.call, clock)
    let response = try await base.send(paced(exchange, up, down))
    try await Self.pause(down.duration(of: response.body.count), exchange.call, clock)
    return response
  }

  /// How many bytes of a body are sent in one go, before the transport behind is asked.
  private func sentWhole(_ body: HTTPBody) -> Int {
    if body.isSentAsFile(by: capabilities) { return body.length.map { Int(clamping: $0) } ?? 0 }
    return body.data?.count ?? 0
  }

  private func paced(_ exchange: Exchange, _ up: Pace, _ down: Pace) -> Exchange {
    var paced = exchange
    if profile.downloadRate != nil { paced.sink = exchange.sink.map { PacedSink($0, down) } }
    guard profile.uploadRate != nil, let body = exchange.request.body, body.data == nil,
      !body.isSentAsFile(by: capabilities)
    else { return paced }
    let slow = HTTPBody.stream(length: body.length, isReplayable: body.isReplayable) { flow in
      PacedSource(try body.open(flow), up, flow)
    }
    paced.request.body = body.expectsContinue ? slow.expectingContinue() : slow
    return paced
  }

  private static func pause(
    _ duration: Duration, _ call: CallState, _ clock: any Timers
  ) async throws(CallState.Stopped) {
    guard duration > .zero else { return }
    var token: TimerToken?
    do {
      try await call.wait { wakeup in
        token = clock.schedule(at: clock.now.advanced(by: duration)) { wakeup.resume() }
      }
    } catch {
      if let token { clock.cancel(token) }
      throw error
    }
  }
}

/// Gives a body no faster than at a pace.
final class PacedSource: BodySource {
  /// Small enough that a slow network is seen to be slow.
  private static let pieceSize = 4_096

  private let inner: any BodySource
  private let pace: Pace
  private let flow: BodyFlow

  init(_ inner: any BodySource, _ pace: Pace, _ flow: BodyFlow) {
    self.inner = inner
    self.pace = pace
    self.flow = flow
  }

  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    guard pace.isFree else {
      pace.whenFree { [flow] in flow.resume() }
      return .later
    }
    let count = min(room.count, Self.pieceSize)
    let read = try inner.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<count]))
    if case .bytes(let count) = read { pace.add(count) }
    return read
  }
}
