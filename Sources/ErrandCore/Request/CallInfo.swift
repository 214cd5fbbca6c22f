import ErrandSupport

/// The identity of a call: its number, request, tag and priority.
public struct CallInfo: Sendable {
  /// The values of a ``CallInfo``. They are in one shared object, because the call, the code that runs it, its
  /// interceptors and the client's registry of calls all refer to them.
  private struct Storage: Sendable {
    let id: UInt64
    let request: any APIRequest
    let tag: String?
    let priority: CallPriority
    let owner: UInt64?
    let indicator: IndicatorChoice
  }

  private let storage: Boxed<Storage>

  init(
    id: UInt64, request: any APIRequest, tag: String?, priority: CallPriority, owner: UInt64? = nil,
    indicator: IndicatorChoice = .inherited
  ) {
    storage = Boxed(
      Storage(id: id, request: request, tag: tag, priority: priority, owner: owner, indicator: indicator))
  }

  /// The number of the call. No two calls of a process have the same number.
  public var id: UInt64 { storage.value.id }
  /// The request as the caller passed it.
  public var request: any APIRequest { storage.value.request }
  /// The tag from the options of the call, by which several calls can be cancelled together; nil if none was set.
  public var tag: String? { storage.value.tag }
  /// The priority with which the call was started. ``Call/priority`` is the current priority.
  public var priority: CallPriority { storage.value.priority }
  /// The number of the ``CallOwner`` of the call; nil for a call without an owner. The number can be used even after
  /// the owner is deallocated.
  package var owner: UInt64? { storage.value.owner }
  var indicator: IndicatorChoice { storage.value.indicator }

  /// The name of the request's type.
  public var name: String { "\(type(of: request))" }
}

extension CallInfo: Masked {
  /// The number of the call and the name of the request's type, without the values of the request.
  public var description: String { "#\(id) \(name)" }
  package var shownParts: KeyValuePairs<String, Any> {
    ["call": description, "tag": tag ?? "none", "priority": priority]
  }
}
