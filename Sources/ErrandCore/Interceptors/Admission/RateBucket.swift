/// The token bucket of one origin, which limits the rate of requests: each request takes one token. The type reads no
/// clock; the caller passes the current moment.
///
/// The type does not store the number of tokens, but the moment at which the bucket is empty. The number of tokens is
/// computed from the time since that moment. All arithmetic saturates.
struct RateBucket: Sendable {
  /// The time in which one token is added, in nanoseconds.
  private let interval: Int64
  /// The time in which an empty bucket fills up, in nanoseconds.
  private let depth: Int64
  private var empty: Int64
  /// The moment before which no request is sent, even if a token is available.
  private var closed = Int64.min
  /// The limits that the server's responses state; empty if the rate does not follow the server.
  private var quotas = ServerQuotas()
  /// Whether the responses of the server limit the requests, see ``HostRate/followsServer``.
  let followsServer: Bool

  /// Makes a full bucket. If the bucket replaces a bucket `former`, the new bucket is full only if enough time has
  /// passed since `former` was empty.
  init(_ rate: HostRate, _ now: MonotonicInstant, after former: RateBucket? = nil) {
    let time = rate.time.clampedNanoseconds
    let requests = Int64(clamping: rate.requests)
    interval = time / requests + (time % requests == 0 ? 0 : 1)
    depth = interval.saturatingProduct(Int64(clamping: rate.burst))
    followsServer = rate.followsServer
    empty = now.nanoseconds.saturatingDifference(depth)
    if let former {
      empty = max(empty, former.empty)
      closed = former.closed
      if followsServer { quotas = former.quotas }
    }
  }

  /// Whether a token is available, and the server accepts one more request.
  func hasToken(_ now: MonotonicInstant) -> Bool {
    if let opening = quotas.next, opening > now { return false }
    return now.nanoseconds.saturatingDifference(max(empty, now.nanoseconds.saturatingDifference(depth))) >= interval
  }

  /// Whether the bucket is full, and no limit of the server need be remembered.
  func isFull(_ now: MonotonicInstant) -> Bool {
    now.nanoseconds.saturatingDifference(empty) >= depth && quotas.isOver(now)
  }

  /// The moment at which the next token is available if no request takes a token before that moment.
  var next: MonotonicInstant {
    let token = MonotonicInstant(nanoseconds: empty.saturatingSum(interval))
    return quotas.next.map { max(token, $0) } ?? token
  }

  /// Takes an available token for a request that starts.
  mutating func take(_ now: MonotonicInstant) {
    reserve(now)
    takeReserved(now)
  }

  /// Puts the unused token of a request that did not start back into the bucket.
  mutating func giveBack() {
    giveBackReserved()
    quotas.giveBack()
  }

  /// Takes an available token, or reserves the next token if no token is available.
  mutating func reserve(_ now: MonotonicInstant) {
    empty = max(empty, now.nanoseconds.saturatingDifference(depth)).saturatingSum(interval)
  }

  /// Counts a request that starts with a reserved token.
  mutating func takeReserved(_ now: MonotonicInstant) { quotas.take(now) }

  /// Puts a reserved token back into the bucket. A closed bucket stays closed, and is then empty.
  mutating func giveBackReserved() { empty = max(empty.saturatingDifference(interval), closed) }

  mutating func endExchange() { quotas.endProbe() }

  /// Changes the limits as a response asks, see ``ServerPace``.
  ///
  /// - Parameters:
  ///   - unanswered: The number of other exchanges whose response headers have not arrived.
  ///   - arrival: The moment at which the response headers arrived.
  mutating func learn(_ pace: ServerPace, unanswered: Int, since arrival: MonotonicInstant) {
    switch pace {
    case .closed(let pause): close(until: arrival.advanced(by: pause))
    case .limits(let limits, let isRefused):
      if followsServer { quotas.learn(limits, unanswered: unanswered, isRefused: isRefused, since: arrival) }
    }
  }

  /// Allows no request before the given moment. At that moment the bucket will be empty, and if the rate follows the
  /// server, one request may start and the others wait for its response headers.
  mutating func close(until moment: MonotonicInstant) {
    empty = max(empty, moment.nanoseconds)
    closed = max(closed, moment.nanoseconds)
    if followsServer { quotas.close(until: MonotonicInstant(nanoseconds: closed)) }
  }

  /// The moment until which a call that has reserved a token must still wait; nil if the call need not wait.
  func closed(_ now: MonotonicInstant) -> MonotonicInstant? {
    let closed = MonotonicInstant(nanoseconds: closed)
    let opening = quotas.next.map { max(closed, $0) } ?? closed
    return opening > now ? opening : nil
  }
}
