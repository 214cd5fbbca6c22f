/// The measurements of a call, such as its duration, its retries and its exchanges.
public struct CallMetrics: Sendable, Hashable {
  /// The time from the start of the call until its result is known, without the delivery of the result.
  public var total: Duration = .zero
  /// The time that the call waited in the client's queue because of the limits on concurrent exchanges.
  public var queue: Duration = .zero
  /// The time to decode the body.
  public var decode: Duration = .zero
  /// How many times the call sent a request over the network.
  public var attempts = 0
  /// The repetitions of exchanges in order, each with its reason and delay. A transport may repeat a request because a
  /// reused connection was closed. The array includes such a repetition if the transport reports it.
  public var retries: [RetryMetrics] = []
  /// How many redirects were followed.
  public var redirects = 0
  /// Whether the call shared an exchange that another call had started.
  public var isJoined = false
  /// The report of the cache: what the cache did, and why; nil if the call did not use the cache.
  public var cache: CacheReport?
  /// The measurements of each exchange that was handed to the transport, in the order of their starts.
  ///
  /// An exchange that was cancelled, timed out or abandoned has the values that were known when it ended: at least its
  /// ``ErrandHTTP/ExchangeMetrics/total``, and its progress if the transport reports the progress.
  public var exchanges: [ExchangeMetrics] = []

  package init() {}

  /// The number of bytes that all exchanges sent.
  public var bytesSent: Int64 { exchanges.reduce(0) { $0 + $1.bytesSent } }
  /// The number of bytes that all exchanges received, as transferred over the network.
  public var bytesReceived: Int64 { exchanges.reduce(0) { $0 + $1.bytesReceived } }
}

extension CallMetrics: CustomStringConvertible {
  /// Several lines for people: the times and numbers of the call, what the cache did, and a line for each retry and
  /// each exchange. Query values are masked. The wording may change.
  public var description: String {
    var facts = ["\(total.shown) in total", attempts == 1 ? "1 attempt" : "\(attempts) attempts"]
    if redirects > 0 { facts.append(redirects == 1 ? "1 redirect" : "\(redirects) redirects") }
    if queue > .zero { facts.append("\(queue.shown) in the queue") }
    if decode > .zero { facts.append("\(decode.shown) to decode") }
    if isJoined { facts.append("joined the exchange of another call") }
    var lines = [facts.joined(separator: ", ")]
    if let cache { lines.append("cache: \(cache.reason)") }
    lines += retries.map { "retry after \($0.delay.shown): \($0.reason)" }
    lines += exchanges.map(\.description)
    return lines.joined(separator: "\n")
  }
}

/// The reason for which an exchange was tried again.
public enum RetryReason: Sendable, Hashable, CustomStringConvertible {
  /// The server responded with a status for which another attempt may succeed.
  case status(Int)
  /// The exchange failed without a response.
  case failure(TransportFailure.Kind)
  /// No response arrived in time, so the request was sent a second time in parallel (``HedgeRule``).
  case slow

  /// The reason as a short text, such as `status 503`.
  public var description: String {
    switch self {
    case .status(let status): "status \(status)"
    case .failure(let kind): kind.rawValue
    case .slow: "slow"
    }
  }
}

/// One repetition of an exchange: the request was tried again, sent to another server, or sent a second time in
/// parallel.
public struct RetryMetrics: Sendable, Hashable {
  /// The reason for the repetition.
  public var reason: RetryReason
  /// The wait before the repetition.
  public var delay: Duration
  /// Whether the exchange that is repeated sent nothing that the server may have received.
  package var isCertainlyNotSent: Bool

  package init(reason: RetryReason, delay: Duration, isCertainlyNotSent: Bool = false) {
    self.reason = reason
    self.delay = delay
    self.isCertainlyNotSent = isCertainlyNotSent
  }
}
