import ErrandSupport

/// The priority of a call among the calls that wait to start. The server receives it in a `Priority` field (RFC
/// 9218): `u=1` for ``high`` and `u=5` for ``low``. A `Priority` field of the request replaces it, such as `u=1, i` for
/// a response that is shown piece by piece.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// The call starts after all waiting calls of higher priority.
  case low = -1
  /// The priority that every call has by default.
  case normal = 0
  /// The call starts before all waiting calls of lower priority.
  case high = 1

  /// The priority as a value of the field `Priority`, from 0 (high) to 7 (low). Nil for the default of a server, which is
  /// 3 (RFC 9218 section 4.1).
  package var fieldValue: String? {
    switch self {
    case .high: "u=1"
    case .normal: nil
    case .low: "u=5"
    }
  }

  /// Returns whether `left` is the lower priority.
  public static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }
}

/// The networks that a call may use. Only transports that can distinguish networks, such as URLSession on Apple
/// platforms, honour this value. Other transports, such as the engine on Linux, ignore the value.
public struct NetworkWish: Sendable, Hashable {
  /// Whether the call must not use a cellular network.
  public var avoidsCellular: Bool
  /// Whether the call must not use a network that the system reports as expensive.
  public var avoidsExpensive: Bool
  /// Whether the call waits until its deadline if no network is available. Otherwise the call fails with
  /// ``TransportFailure/Kind/offline``.
  public var waitsForConnectivity: Bool

  /// Makes the description of the allowed networks. By default the call may use every network, and fails if no network
  /// is available.
  public init(avoidsCellular: Bool = false, avoidsExpensive: Bool = false, waitsForConnectivity: Bool = false) {
    self.avoidsCellular = avoidsCellular
    self.avoidsExpensive = avoidsExpensive
    self.waitsForConnectivity = waitsForConnectivity
  }
}

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
