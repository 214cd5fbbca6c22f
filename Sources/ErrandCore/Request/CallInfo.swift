/// The identity of a call: its number, request, tag and priority.
public struct CallInfo: Sendable {
  /// The values of a ``CallInfo``. They are in one shared object, because the call, the code that runs it, its
  /// interceptors and the client's registry of calls all refer to them.
  private final class Storage: Sendable {
    let id: UInt64
    let request: any APIRequest
    let tag: String?
    let priority: CallPriority
    let owner: UInt64?
    let indicator: IndicatorChoice

    init(
      _ id: UInt64, _ request: any APIRequest, _ tag: String?, _ priority: CallPriority, _ owner: UInt64?,
      _ indicator: IndicatorChoice
    ) {
      self.id = id
      self.request = request
      self.tag = tag
      self.priority = priority
      self.owner = owner
      self.indicator = indicator
    }
  }

  private let storage: Storage

  init(
    id: UInt64, request: any APIRequest, tag: String?, priority: CallPriority, owner: UInt64? = nil,
    indicator: IndicatorChoice = .inherited
  ) {
    storage = Storage(id, request, tag, priority, owner, indicator)
  }

  /// The number of the call. No two calls of a process have the same number.
  public var id: UInt64 { storage.id }
  /// The request as the caller passed it.
  public var request: any APIRequest { storage.request }
  /// The tag from the options of the call, by which several calls can be cancelled together; nil if none was set.
  public var tag: String? { storage.tag }
  /// The priority with which the call was started. ``Call/priority`` is the current priority.
  public var priority: CallPriority { storage.priority }
  /// The number of the ``CallOwner`` of the call; nil for a call without an owner. The number can be used even after
  /// the owner is deallocated.
  package var owner: UInt64? { storage.owner }
  var indicator: IndicatorChoice { storage.indicator }

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
