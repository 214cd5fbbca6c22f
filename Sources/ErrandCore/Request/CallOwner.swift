import ErrandSupport
import Synchronization

/// The owner of calls, such as a page. When the owner is deallocated, its calls are cancelled. Calls and options refer
/// to the owner weakly, so store the owner in the object that it represents. A call whose options name an owner that no
/// longer exists is cancelled as it starts.
///
/// ```swift
/// final class Page { let calls = CallOwner() }
/// client.start(GetUser(id: 7), options: .owner(page.calls)) { user in … }
/// ```
public final class CallOwner: Sendable {
  /// A weak reference to an owner, and the owner's number, which can be used even after the owner is deallocated.
  struct Reference: Sendable {
    weak let owner: CallOwner?
    let number: UInt64

    init(_ owner: CallOwner) {
      self.owner = owner
      number = owner.number
    }
  }

  private struct WeakClient: Sendable {
    weak let calls: (any OwnedCalls)?
  }

  private static let lastNumber = Atomic<UInt64>(0)
  let number = CallOwner.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  private let clients = Locked<[WeakClient]>([])

  /// Makes an owner without calls.
  public init() {}

  deinit {
    cancelAll()
  }

  /// Cancels the running calls of this owner on every client.
  public func cancelAll() {
    for client in clients.withLock({ $0 }) { client.calls?.cancel(owner: number) }
  }

  /// Records a client on which this owner has calls.
  func note(_ calls: any OwnedCalls) {
    clients.withLock { clients in
      if clients.contains(where: { $0.calls === calls }) { return }
      clients.removeAll { $0.calls == nil }
      clients.append(WeakClient(calls: calls))
    }
  }
}

/// The running calls of a client, as an owner of calls sees them.
protocol OwnedCalls: AnyObject, Sendable {
  /// Cancels the calls and groups of an owner; returns the number of calls and groups that will now end as cancelled.
  @discardableResult
  func cancel(owner: UInt64) -> Int
}
