import ErrandCache

/// That an answer was used.
struct RedisUse: Sendable, Hashable {
  let entry: String
  let variant: String
}
