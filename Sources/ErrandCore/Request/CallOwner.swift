import ErrandSupport
import Synchronization

/// The owner of calls. When the owner is deallocated, its calls are cancelled. Calls and options have only weak
/// references to the owner. So store the owner in the object to which the calls belong, such as a page. A call whose
/// options name an owner that no longer exists is cancelled as it starts.
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

  /// Stores a weak reference to the running calls of a client. Some of these calls may belong to other owners;
  /// ``cancelAll()`` cancels only the calls of this owner.
  func register(_ calls: any OwnedCalls) {
    clients.withLock { clients in
      if clients.contains(where: { $0.calls === calls }) { return }
      clients.removeAll { $0.calls == nil }
      clients.append(WeakClient(calls: calls))
    }
  }
}

/// The running calls of one client, which a ``CallOwner`` can cancel.
protocol OwnedCalls: AnyObject, Sendable {
  /// Cancels the calls and groups of an owner. Returns the number of calls and groups that now end as cancelled; the
  /// members of a group are not counted.
  @discardableResult
  func cancel(owner: UInt64) -> Int
}

extension APIError {
  /// The error of a call or a group that was cancelled and whose owner no longer exists. `kind` names it, such as
  /// "call". Nil if it has no owner, or if the owner exists.
  static func ownerGone(_ ownership: CallOwner.Reference?, of kind: String) -> APIError? {
    guard let ownership, ownership.owner == nil else { return nil }
    return APIError(
      .cancelled, .cancelled,
      "The \(kind) was cancelled, and its `CallOwner` no longer exists; calls end with their owner, so store the owner "
        + "for as long as they may run.")
  }
}
