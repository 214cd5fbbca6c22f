import ErrandSupport
import Synchronization

/// Whom calls belong to, such as a page: when it is freed, its calls are cancelled. Calls and options hold it weakly,
/// so keep it where it belongs: options whose owner is gone cancel the call as it starts.
///
/// ```swift
/// final class Page { let calls = CallOwner() }
/// client.start(GetUser(id: 7), options: .owner(page.calls)) { user in … }
/// ```
public final class CallOwner: Sendable {
  /// What a call knows of its owner: the number outlives it.
  struct Reference: Sendable {
    weak let owner: CallOwner?
    let number: UInt64

    init(_ owner: CallOwner) {
      self.owner = owner
      number = owner.number
    }
  }

  private struct WeakRegistry: Sendable {
    weak let registry: CallRegistry?
  }

  private static let lastNumber = Atomic<UInt64>(0)
  let number = CallOwner.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  private let registries = Locked<[WeakRegistry]>([])

  /// Makes an owner without calls.
  public init() {}

  deinit {
    cancelAll()
  }

  /// Cancels the calls that run for this owner, on every client.
  public func cancelAll() {
    for entry in registries.withLock({ $0 }) { entry.registry?.cancel { $0.owner == number } }
  }

  func note(_ registry: CallRegistry) {
    registries.withLock { entries in
      if entries.contains(where: { $0.registry === registry }) { return }
      entries.removeAll { $0.registry == nil }
      entries.append(WeakRegistry(registry: registry))
    }
  }
}
