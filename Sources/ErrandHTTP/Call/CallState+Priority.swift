import ErrandSupport

/// The priority of a call can change while the call runs. The queues in which the call waits observe these changes.
extension CallState {
  /// Makes the state of a follower: an exchange that runs inside another call, its leader. The follower uses the clock
  /// and the priority of the leader. At the end of the exchange, call ``settle()``, which removes the follower from the
  /// leader.
  package convenience init(following leader: CallState, deadline: MonotonicInstant?) {
    self.init(deadline, leader.timers, .normal, leader: leader)
    leader.priorityState.withLock { $0.followers.append(self) }
  }

  /// The current priority of the call. A follower, which is an exchange inside another call, has the priority of that
  /// call.
  package var priority: CallPriority { leader?.priority ?? priorityState.withLock { $0.priority } }

  /// Changes the priority of the call. Notifies the observers of this call and of the exchanges that run inside it (its
  /// followers), on the caller's thread. If the call is itself a follower of another call, the priority of that call is
  /// changed.
  package func change(priority: CallPriority) {
    if let leader { return leader.change(priority: priority) }
    let hasChanged = priorityState.withLock { priorityState in
      defer { priorityState.priority = priority }
      return priorityState.priority != priority
    }
    if hasChanged { notifyObservers(of: priority) }
  }

  /// Sets the observer of the call's priority; nil removes the observer. The observer is called on each change, on the
  /// thread that makes the change. If two changes happen at the same time, the two observer calls may run in the wrong
  /// order. The observer must therefore read ``priority`` for the current value.
  package func whenPriorityChanges(_ onPriorityChange: (@Sendable (CallPriority) -> Void)?) {
    let before = priorityState.withLock { priorityState in
      defer { priorityState.onPriorityChange = onPriorityChange }
      return priorityState.onPriorityChange
    }
    _ = before
  }

  /// Removes a follower: the state of an exchange that ran inside this call and has ended.
  func drop(_ follower: CallState) {
    priorityState.withLock { $0.followers.removeAll { $0 === follower } }
  }

  private func notifyObservers(of priority: CallPriority) {
    let (onPriorityChange, followers) = priorityState.withLock { ($0.onPriorityChange, $0.followers) }
    onPriorityChange?(priority)
    for follower in followers { follower.notifyObservers(of: priority) }
  }
}
