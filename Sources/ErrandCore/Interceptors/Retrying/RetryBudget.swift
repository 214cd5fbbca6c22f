/// How many new attempts one origin still gets: when a server is down, many calls must not become many more. A value;
/// every new attempt costs, success pays back.
struct RetryBudget: Sendable, Hashable {
  /// What there is at most, and at first.
  static let full = 500
  /// What a new attempt costs.
  static let price = 5
  /// What one costs after a time-out.
  static let timeoutPrice = 10
  /// What a success at the first attempt brings.
  private static let reward = 1

  private(set) var tokens = full

  /// Pays for a new attempt; false where there is not enough.
  mutating func pay(_ cost: Int) -> Bool {
    guard tokens >= cost else { return false }
    tokens -= cost
    return true
  }

  /// A call has succeeded: what its last new attempt cost comes back.
  mutating func succeed(paid: Int) { tokens = min(tokens + max(paid, Self.reward), Self.full) }

  /// Whether nothing has to be remembered.
  var isFull: Bool { tokens == Self.full }
}
