import ErrandSupport

/// The priority of a call can change while the call runs. The queues in which the call waits observe the change.
extension CallState {
  /// Makes the state of a nested exchange, a follower of the call that sends it. The follower uses the clock of that
  /// call and always has its priority. ``settle()`` must be called; it removes the follower from the leading call.
  package convenience init(following leader: CallState, deadline: MonotonicInstant?) {
    self.init(deadline, leader.timers, .normal, leader: leader)
    leader.urgency.withLock { $0.followers.append(self) }
  }

  /// The current priority of the call. A follower has the priority of its leading call.
  package var priority: CallPriority { leader?.priority ?? urgency.withLock { $0.priority } }

  /// Changes the priority. Notifies the observers of the call and of its followers, on the caller's thread. Called on a
  /// follower, it changes the priority of the leading call.
  package func change(priority: CallPriority) {
    if let leader { return leader.change(priority: priority) }
    let hasChanged = urgency.withLock { urgency in
      defer { urgency.priority = priority }
      return urgency.priority != priority
    }
    if hasChanged { spread(priority) }
  }

  /// Sets the observer that is called on each change, on the thread that makes the change; nil removes the observer. If
  /// two changes happen at the same time, the observer may be called in the wrong order, so it must read ``priority``
  /// for the current value.
  package func whenPriorityChanges(_ tell: (@Sendable (CallPriority) -> Void)?) {
    let before = urgency.withLock { urgency in
      defer { urgency.tell = tell }
      return urgency.tell
    }
    _ = before
  }

  /// Removes a follower that has ended.
  func drop(_ follower: CallState) {
    urgency.withLock { $0.followers.removeAll { $0 === follower } }
  }

  private func spread(_ priority: CallPriority) {
    let (tell, followers) = urgency.withLock { ($0.tell, $0.followers) }
    tell?(priority)
    for follower in followers { follower.spread(priority) }
  }
}
