public import ErrandCore
import ErrandSupport

/// Wraps a scripted, replaying or real transport and simulates a slow and unreliable network, as described by a
/// ``NetworkProfile``.
///
/// ```swift
/// let clock = ManualClock()
/// configuration.transport = .own(ProfiledTransport(replay, .edge))
/// configuration.timers = clock
/// …
/// #expect(await clock.waitForTimers(2))  // the timers of the deadline and the network
/// clock.advance(by: .seconds(3))         // three seconds of EDGE, without waiting
/// ```
///
/// The transport uses the clock of the call for its waits. With a ``ManualClock``, a test can simulate every network
/// without sleeping. The random values depend only on a seed and on the order in which the exchanges begin, so a test
/// always gets the same network.
///
/// - A request body in memory delays the request once, for the simulated time of the upload. The same applies to a file
///   that the wrapped transport must send as a file.
/// - A response body in memory delays the response once, for the simulated time of the download.
/// - Streamed bodies are slowed down piece by piece.
/// - A lost exchange fails with `reset` after the latency, and the wrapped transport does not receive it.
public final class ProfiledTransport: Transport {
  private let base: any Transport
  private let profile: NetworkProfile
  private let clock: (any Timers)?
  private let numbers: Locked<SeededNumbers>

  /// Creates a transport that simulates a network over another transport.
  /// - Parameters:
  ///   - base: The transport to wrap. It sends the requests.
  ///   - profile: The quality of the network.
  ///   - clock: The clock for the waits; nil for the clock of each call.
  ///   - seed: The seed of the random losses and delays.
  public init(_ base: any Transport, _ profile: NetworkProfile, clock: (any Timers)? = nil, seed: UInt64 = 1) {
    self.base = base
    self.profile = profile
    self.clock = clock
    numbers = Locked(SeededNumbers(seed: seed))
    LeakCheck.current?.watch(self, "ProfiledTransport")
  }

  /// The capabilities of the wrapped transport.
  public var capabilities: TransportCapabilities { base.capabilities }
  /// The content codings of the wrapped transport.
  public var contentCodings: [String] { base.contentCodings }
  /// The timers of the wrapped transport.
  public var timers: (any Timers)? { base.timers }
  /// The identity of the wrapped transport.
  public var identity: String? { base.identity }

  /// Waits for the simulated upload, sends the request with the wrapped transport, and waits for the simulated
  /// download.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let (chance, jitter) = numbers.withLock { (Self.chance(&$0), Self.chance(&$0)) }
    let latency = profile.latency + profile.jitter * jitter
    let clock = clock ?? exchange.call.timers
    if chance < profile.loss {
      try await Self.pause(latency, exchange.call, clock)
      throw TransportFailure(
        .reset, "The simulated network reset this exchange; `loss`, the probability of a reset, is \(profile.loss).")
    }
    let up = Pace(rate: profile.uploadRate, clock: clock)
    let down = Pace(rate: profile.downloadRate, clock: clock)
    defer {
      up.end()
      down.end()
    }
    let sent = up.duration(of: exchange.request.body.map { sentWhole($0) } ?? 0)
    try await Self.pause(latency + sent, exchange.call, clock)
    let response = try await base.send(paced(exchange, up, down))
    try await Self.pause(down.duration(of: response.body.count), exchange.call, clock)
    return response
  }

  /// The number of body bytes whose simulated upload delays the start of the request. The number is 0 for a streamed
  /// body, which is slowed down piece by piece instead.
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

  /// A random number from 0 up to, but not including, 1.
  private static func chance(_ numbers: inout SeededNumbers) -> Double { Double(numbers.next() >> 11) * 0x1p-53 }

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

/// Slows the reading of a request body down to a simulated rate.
final class PacedSource: BodySource {
  /// The maximum number of bytes in one read. The number is small, so that the transfer proceeds evenly even at a low
  /// rate.
  private static let pieceSize = 4_096

  private let inner: any BodySource
  private let pace: Pace
  private let flow: BodyFlow

  init(_ inner: any BodySource, _ pace: Pace, _ flow: BodyFlow) {
    self.inner = inner
    self.pace = pace
    self.flow = flow
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    guard pace.isFree else {
      pace.whenFree { [flow] in flow.resume() }
      return .later
    }
    let count = min(buffer.count, Self.pieceSize)
    let read = try inner.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    if case .bytes(let count) = read { pace.add(count) }
    return read
  }
}

/// The quality of a network that a ``ProfiledTransport`` simulates.
///
/// ```swift
/// let train = NetworkProfile(latency: .milliseconds(300), jitter: .seconds(2), downloadRate: 20_000, loss: 0.1)
/// ```
public struct NetworkProfile: Sendable, Hashable {
  /// The delay before a response begins, in addition to the time of the server.
  public var latency: Duration
  /// The maximum additional delay. The additional delay is random for each exchange.
  public var jitter: Duration
  /// The rate at which response bodies are received, in bytes per second; nil for no limit.
  public var downloadRate: Int?
  /// The rate at which request bodies are sent, in bytes per second; nil for no limit.
  public var uploadRate: Int?
  /// The probability from 0 to 1 that an exchange is reset.
  public var loss: Double

  /// Creates a profile. By default, the network has no delay, no rate limit and no loss.
  public init(
    latency: Duration = .zero, jitter: Duration = .zero, downloadRate: Int? = nil, uploadRate: Int? = nil,
    loss: Double = 0
  ) {
    self.latency = latency
    self.jitter = jitter
    self.downloadRate = downloadRate
    self.uploadRate = uploadRate
    self.loss = loss
  }

  /// A congested 3G cell: 400 kbit/s in both directions, 400 ms latency, up to 200 ms jitter.
  public static let slow3G = NetworkProfile(
    latency: .milliseconds(400), jitter: .milliseconds(200), downloadRate: 50_000, uploadRate: 50_000)

  /// EDGE (2G): 240 kbit/s download, 200 kbit/s upload, 840 ms latency, up to 400 ms jitter.
  public static let edge = NetworkProfile(
    latency: .milliseconds(840), jitter: .milliseconds(400), downloadRate: 30_000, uploadRate: 25_000)

  /// A network that resets a share of the exchanges. `share` is the probability of a reset, from 0 to 1. In all other
  /// respects the network has the quality of `profile`, which by default has no delay and no rate limit.
  public static func lossy(_ share: Double, over profile: NetworkProfile = NetworkProfile()) -> NetworkProfile {
    var profile = profile
    profile.loss = share
    return profile
  }
}
