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
