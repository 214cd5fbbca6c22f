/// Bodies that break off and are asked for again from where they stopped: each time is a new attempt.
extension RetryControl {
  /// Pays for one; gives what it cost, nil where the origin's budget does not allow one more.
  package func payForTakeUp(_ reason: RetryReason, at origin: HTTPURL.Origin) -> Int? {
    let cost = reason == .failure(.idleTimeout) ? RetryBudget.timeoutPrice : RetryBudget.price
    return pay(cost, at: origin) ? cost : nil
  }

  /// What was taken up has come to its end: what the last time cost comes back.
  package func succeedAfterTakeUp(paid: Int, at origin: HTTPURL.Origin) { succeed(paid: paid, at: origin) }
}
