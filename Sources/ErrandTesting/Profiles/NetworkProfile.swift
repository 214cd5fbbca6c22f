/// How good a network is: what a ``ProfiledTransport`` makes of one that is good.
///
/// ```swift
/// let train = NetworkProfile(latency: .milliseconds(300), jitter: .seconds(2), downloadRate: 20_000, loss: 0.1)
/// ```
public struct NetworkProfile: Sendable, Hashable {
  /// How long it takes until an answer begins, beside what the server needs.
  public var latency: Duration
  /// How much longer that may take, drawn anew for each exchange.
  public var jitter: Duration
  /// Bytes a second of answers; nil for no bound.
  public var downloadRate: Int?
  /// Bytes a second of request bodies; nil for no bound.
  public var uploadRate: Int?
  /// The share of exchanges that are reset, from 0 to 1.
  public var loss: Double

  /// Makes a profile; what is not said is as in a perfect network.
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

  /// A crowded cell of the third generation: 400 kbit/s both ways, 400 ms, up to 200 more.
  public static let slow3G = NetworkProfile(
    latency: .milliseconds(400), jitter: .milliseconds(200), downloadRate: 50_000, uploadRate: 50_000)

  /// The second generation: 240 kbit/s down, 200 up, 840 ms, up to 400 more.
  public static let edge = NetworkProfile(
    latency: .milliseconds(840), jitter: .milliseconds(400), downloadRate: 30_000, uploadRate: 25_000)

  /// A network, a perfect one where none is given, that resets a share of the exchanges.
  public static func lossy(_ share: Double, over profile: NetworkProfile = NetworkProfile()) -> NetworkProfile {
    var profile = profile
    profile.loss = share
    return profile
  }
}
