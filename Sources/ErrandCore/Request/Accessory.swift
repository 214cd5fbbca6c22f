import ErrandSupport

/// Observes calls and groups of calls: their start, progress and end, including cache hits and cancelled calls.
///
/// - `willStart` runs on the thread that starts the call.
/// - `willStop` and `didStop` run on the call's ``CallbackExecutor``, or on the caller's executor for `send`. The
///   delegate and the completion closure are called between `willStop` and `didStop`, in the same job of the executor.
/// - `progressed` and `received` run on the call's ``CallbackExecutor``, or on the transport's thread for `send`. Such
///   reports of one call never overlap, and no report follows `willStop`.
///
/// `willStart`, `willStop` and `didStop` are each called exactly once per call. A batch or a chain is a group of calls.
/// The accessories of the group and of the client are also called once for the whole group.
///
/// A call that an accessory sends is nested in the call or the group that the accessory observes. A call that is nested
/// more than eight deep fails and is not observed. So an accessory that sends a call in `willStart`, `progressed` or
/// `willStop` of each call causes no endless loop. Calls of a `beforeCompletion` hook are nested, too. Calls that
/// `didStop` or a hook after the completion starts are not nested, because the call has ended: do not send a call there
/// for each call that the accessory itself has sent.
///
/// Every function has a default implementation, which does nothing. If a class conforms to this protocol, implement the
/// functions in this class: a function that only a subclass implements is not called, because Swift selects the default
/// implementation for the class that declares the conformance.
public protocol Accessory: Sendable {
  /// Called when a call starts.
  func willStart(_ call: CallInfo)
  /// Called when more bytes of a body were sent or received.
  func progressed(_ call: CallInfo, _ progress: TransferProgress)
  /// Called when an informational (interim) response with status 1xx arrived before the final response, such as 103
  /// Early Hints (RFC 9110 section 15.2). It is called for every exchange of the call, also for one that a redirect or
  /// another attempt follows. Transports without the capability ``ErrandHTTP/TransportCapabilities/informational``,
  /// such as URLSession, report none.
  func received(_ call: CallInfo, informational head: ResponseHead)
  /// Called when the outcome of a call is known, before the delegate and the completion closure are called.
  func willStop(_ call: CallInfo, _ outcome: Outcome<Void>)
  /// Called after the delegate and the completion closure of a call were called.
  func didStop(_ call: CallInfo, _ outcome: Outcome<Void>)

  /// Called when a batch or a chain of calls starts.
  func willStart(_ group: GroupInfo)
  /// Called when a member of a batch or a chain made progress or ended.
  func progressed(_ group: GroupInfo, _ progress: GroupProgress)
  /// Called when the outcome of a batch or a chain is known, before its delegate and completion closure are called.
  func willStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>)
  /// Called after the delegate and the completion closure of a batch or a chain were called.
  func didStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>)

  /// Called when an account was logged out and its calls were cancelled. The task that performs the logout calls this
  /// function on the accessories of the client.
  func sessionEnded(of account: String)
}

extension Accessory {
  /// By default, does nothing.
  public func willStart(_ call: CallInfo) {}
  /// By default, does nothing.
  public func progressed(_ call: CallInfo, _ progress: TransferProgress) {}
  /// By default, does nothing.
  public func received(_ call: CallInfo, informational head: ResponseHead) {}
  /// By default, does nothing.
  public func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) {}
  /// By default, does nothing.
  public func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) {}
  /// By default, does nothing.
  public func willStart(_ group: GroupInfo) {}
  /// By default, does nothing.
  public func progressed(_ group: GroupInfo, _ progress: GroupProgress) {}
  /// By default, does nothing.
  public func willStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) {}
  /// By default, does nothing.
  public func didStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) {}
  /// By default, does nothing.
  public func sessionEnded(of account: String) {}
}

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

/// Who is notified of the calls of a request, in addition to the caller: hooks, accessories and loading indicators.
///
/// ```swift
/// var delivery: Delivery<Response> {
///   Delivery(beforeCompletion: { outcome in await store(outcome.value) }, indicator: .named("basket"))
/// }
/// ```
public struct Delivery<Value: Sendable>: Sendable {
  /// The hook that runs at the end of each call, successful or failed, after the outcome of the call is known; nil for
  /// none. It runs in a task, not on the ``CallbackExecutor``, and the call waits until it has returned.
  ///
  /// If the call is cancelled, the task in which the hook runs is also cancelled. If the call is cancelled while the
  /// hook runs, the call may end as cancelled, although the hook received another outcome. If the deadline of the call
  /// has passed, the task is not cancelled, so that the hook can still do work.
  public var beforeCompletion: (@Sendable (Outcome<Value>) async -> Void)?
  /// The hook that runs second, on the ``CallbackExecutor``, or on the caller's executor for `send`; nil for none. The
  /// delegate and the completion closure of the call are called after this hook. If the hook cancels the call, they
  /// receive a cancellation, although the hook received another outcome.
  public var afterCompletion: (@Sendable (Outcome<Value>) -> Void)?
  /// The observers of calls of the request, in addition to the accessories of the client and the call.
  public var accessories: [any Accessory]
  /// Chooses the ``LoadingIndicator`` that counts the running calls of the request.
  public var indicator: IndicatorChoice

  /// Makes a delivery. By default there are no hooks and no accessories, and the client's indicators without a name
  /// count the calls.
  public init(
    beforeCompletion: (@Sendable (Outcome<Value>) async -> Void)? = nil,
    afterCompletion: (@Sendable (Outcome<Value>) -> Void)? = nil, accessories: [any Accessory] = [],
    indicator: IndicatorChoice = .inherited
  ) {
    self.beforeCompletion = beforeCompletion
    self.afterCompletion = afterCompletion
    self.accessories = accessories
    self.indicator = indicator
  }
}

/// Chooses the loading indicator that counts the calls of a request.
public enum IndicatorChoice: Sendable, Hashable {
  /// The client's indicators that have no name count the request.
  case inherited
  /// No indicator counts the request.
  case none
  /// The client's indicator with this name counts the request.
  case named(String)
}
