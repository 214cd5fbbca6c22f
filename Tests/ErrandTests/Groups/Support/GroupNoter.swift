import Errand
import ErrandTesting

/// An accessory that records notifications about groups in one list and about calls in another.
final class GroupNoter: Accessory {
  private let name: String
  private let events: Recorded<String>
  private let calls: Recorded<CallEvent>
  private let ended: Latch?

  init(_ name: String, _ events: Recorded<String>, calls: Recorded<CallEvent> = Recorded(), ended: Latch? = nil) {
    self.name = name
    self.events = events
    self.calls = calls
    self.ended = ended
  }

  func willStart(_ call: CallInfo) { calls.append(CallEvent(name, call.id, "willStart")) }
  func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
    calls.append(CallEvent(name, call.id, "willStop \(outcome.told)"))
  }
  func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
    calls.append(CallEvent(name, call.id, "didStop \(outcome.told)"))
  }

  func willStart(_ group: GroupInfo) { events.append("willStart \(name)") }
  func progressed(_ group: GroupInfo, _ progress: GroupProgress) {
    events.append("progress \(name) \(progress.finished)")
  }
  func willStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) { events.append("willStop \(name) \(outcome.told)") }
  func didStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) {
    events.append("didStop \(name) \(outcome.told)")
    ended?.open()
  }
}

/// One notification of an accessory about a call.
struct CallEvent: Sendable, Hashable, CustomStringConvertible {
  let accessory: String
  let call: UInt64
  let what: String

  init(_ accessory: String, _ call: UInt64, _ what: String) {
    self.accessory = accessory
    self.call = call
    self.what = what
  }

  var description: String { "\(accessory) #\(call) \(what)" }
}

extension Recorded<CallEvent> {
  /// The notifications of one accessory for each call, ordered by the start of the calls.
  func stories(of accessory: String) -> [[String]] {
    let events = all.filter { $0.accessory == accessory }
    var order: [UInt64] = []
    for event in events where !order.contains(event.call) { order.append(event.call) }
    return order.map { call in events.filter { $0.call == call }.map(\.what) }
  }

  /// The calls that did not receive start, will stop and did stop exactly once, in this order, with one outcome.
  func unfinished(of accessory: String) -> [[String]] {
    stories(of: accessory).filter { story in
      guard story.count == 3, story[0] == "willStart", story[1].hasPrefix("willStop ") else { return true }
      return story[2] != "didStop " + story[1].dropFirst("willStop ".count)
    }
  }
}

extension GroupOutcome<Void> {
  /// `success`, or the stage of the failure.
  var told: String { error.map(\.stage.rawValue) ?? "success" }
}

extension GroupOutcome {
  /// `success`, or the stage of the failure.
  var told: String { error.map(\.stage.rawValue) ?? "success" }
}
