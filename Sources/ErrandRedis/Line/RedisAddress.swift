/// Where Redis listens.
enum RedisAddress: Sendable, Hashable {
  case tcp(host: String, port: Int)
  case unix(path: String)
}
