import ErrandSupport

/// The priority of a call can change while the call is under way. Whoever waits by it listens.
extension CallState {
  /// Makes the state of one way down within another call: with the clock of that one, and its priority at any time.
  /// ``settle()`` ends that, and must be called.
  package convenience init(following leader: CallState, deadline: MonotonicInstant?) {
    self.init(deadline, leader.timers, .normal, leader: leader)
    leader.urgency.withLock { $0.followers.append(self) }
  }

  /// How urgent the call is now.
  package var priority: CallPriority { leader?.priority ?? urgency.withLock { $0.priority } }

  /// Changes how urgent the call is, and tells whoever listens, here and where this state is followed, on the caller's
  /// thread. A state that follows another changes that one.
  package func change(priority: CallPriority) {
    if let leader { return leader.change(priority: priority) }
    let hasChanged = urgency.withLock { urgency in
      defer { urgency.priority = priority }
      return urgency.priority != priority
    }
    if hasChanged { spread(priority) }
  }

  /// Sets the one who is told of each change, on the thread that makes it; nil for nobody. Of two changes at the same
  /// time the later one may be told first: who needs the last word asks ``priority``.
  package func whenPriorityChanges(_ tell: (@Sendable (CallPriority) -> Void)?) {
    let before = urgency.withLock { urgency in
      defer { urgency.tell = tell }
      return urgency.tell
    }
    _ = before
  }

  /// Ends the following of a state that has come to its end.
  func drop(_ follower: CallState) {
    urgency.withLock { $0.followers.removeAll { $0 === follower } }
  }

  private func spread(_ priority: CallPriority) {
    let (tell, followers) = urgency.withLock { ($0.tell, $0.followers) }
    tell?(priority)
    for follower in followers { follower.spread(priority) }
  }
}
