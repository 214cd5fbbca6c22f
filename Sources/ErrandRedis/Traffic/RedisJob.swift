/// What stands in the queue for Redis.
enum RedisJob: Sendable {
  /// Somebody waits for the answer.
  case ask(RedisCall, RedisTicket)
  /// Nobody waits; the number says which change it belongs to.
  case write(RedisWrite, number: UInt64)
}
