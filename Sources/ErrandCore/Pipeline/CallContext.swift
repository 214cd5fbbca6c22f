/// What stands beside a request on its way down the line: its call, and what was decided for it.
public final class CallContext: Sendable {
  /// The life of the call: every wait takes it.
  public let call: CallState
  /// Who the call is.
  public let info: CallInfo

  let plan: CallPlan
  let record: CallRecord

  init(call: CallState, info: CallInfo, plan: CallPlan, record: CallRecord) {
    self.call = call
    self.info = info
    self.plan = plan
    self.record = record
  }

  /// The account the call was frozen with; nil for nobody, and above the freeze.
  public var account: String? { record.account }

  func with(_ call: CallState) -> CallContext { CallContext(call: call, info: info, plan: plan, record: record) }
}

/// Who a call is.
public struct CallInfo: Sendable {
  /// The call's number, never used twice in a process.
  public let id: UInt64
  /// The request as it was given.
  public let request: any APIRequest
  /// The tag it was started with.
  public let tag: String?
  /// Its priority.
  public let priority: CallPriority

  /// The name of the request's type.
  public var name: String { "\(type(of: request))" }
}

extension CallInfo: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The number and the name of the request's type; not what the request holds.
  public var description: String { "#\(id) \(name)" }
  /// The number and the name of the request's type.
  public var debugDescription: String { description }
  /// What a dump shows: not what the request holds.
  public var customMirror: Mirror {
    Mirror(self, children: ["call": description, "tag": tag ?? "none", "priority": priority], displayStyle: .struct)
  }
}
