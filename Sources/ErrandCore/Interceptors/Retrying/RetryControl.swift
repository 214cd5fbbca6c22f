import ErrandSupport

/// The budgets of a client's origins, shared by all its calls.
package final class RetryControl: Sendable {
  /// Those that are not full.
  private let budgets = Locked<[HTTPURL.Origin: RetryBudget]>([:])

  package init() {}

  /// Pays for a new attempt at an origin; false where its budget does not allow one more.
  func pay(_ cost: Int, at origin: HTTPURL.Origin) -> Bool {
    budgets.withLock { $0[origin, default: RetryBudget()].pay(cost) }
  }

  /// A call at an origin has succeeded.
  func succeed(paid: Int, at origin: HTTPURL.Origin) {
    budgets.withLock { budgets in
      guard !budgets.isEmpty, var budget = budgets[origin] else { return }
      budget.succeed(paid: paid)
      budgets[origin] = budget.isFull ? nil : budget
    }
  }
}
