/// The bounds of the traffic with Redis.
struct RedisLimits: Sendable {
  /// How long connecting may take.
  var connect = Duration.seconds(1)
  /// How long Redis may be silent while it owes an answer.
  var command = Duration.seconds(2)
  /// The bytes of answers that may wait to be written.
  var backlog = 16 << 20
  /// About how many bytes are handed to the connection in one go.
  var oneGo = 1 << 20
}
