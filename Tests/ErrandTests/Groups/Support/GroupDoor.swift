import Dispatch
import Errand
import ErrandCore
import ErrandTesting

/// The methods that start a group.
enum GroupDoor: CaseIterable, Sendable {
  case outcome, outcomeElsewhere, send, closures, closuresOnQueue, closuresOnTasks, outcomeOf, outcomeOfOnQueue
  case delegate, freedDelegate

  static let queue = DispatchQueue(label: "groups.callbacks")

  var isAwaited: Bool { self == .outcome || self == .outcomeElsewhere || self == .send }
  var isOnQueue: Bool { self == .closuresOnQueue || self == .outcomeOfOnQueue }
  var isOnMain: Bool { !isAwaited && !isOnQueue && self != .closuresOnTasks }

  /// Starts the group and records the terminal event as `told …`.
  @MainActor func start(
    _ group: some CallGroup, _ client: APIClient, _ options: GroupOptions, _ events: Recorded<String>,
    _ leaks: LeakCheck, _ captures: LeakCheck
  ) -> StartedGroup {
    let captured = Captured()
    captures.watch(captured, "captured object")
    let onProgress: @Sendable (GroupProgress) -> Void = { _ in withExtendedLifetime(captured) {} }
    switch self {
    case .outcome, .outcomeElsewhere, .send:
      return StartedGroup(task: awaited(group, client, options, captured, events))
    case .closures:
      return StartedGroup(
        call: client.start(group, options: options) { _ in
          captured.note("success", events)
        } onFailure: {
          captured.note($0.stage.rawValue, events)
        } onProgress: {
          onProgress($0)
        })
    case .closuresOnQueue, .closuresOnTasks:
      let executor = isOnQueue ? CallbackExecutor.queue(Self.queue) : .custom { job in Task.detached { job() } }
      return StartedGroup(
        call: client.start(
          group, on: executor, options: options, onSuccess: { _ in captured.note("success", events) },
          onFailure: { captured.note($0.stage.rawValue, events) }, onProgress: onProgress))
    case .outcomeOf:
      return StartedGroup(
        call: client.start(outcomeOf: group, options: options) { captured.note($0.told, events) })
    case .outcomeOfOnQueue:
      return StartedGroup(
        call: client.start(outcomeOf: group, on: .queue(Self.queue), options: options) {
          captured.note($0.told, events)
        })
    case .delegate, .freedDelegate:
      let delegate = NotingGroupDelegate(events)
      leaks.watch(delegate, "delegate")
      let call = client.start(group, options: options, delegate: delegate)
      return StartedGroup(call: call, delegate: self == .delegate ? delegate : nil)
    }
  }

  @MainActor private func awaited(
    _ group: some CallGroup, _ client: APIClient, _ options: GroupOptions, _ captured: Captured,
    _ events: Recorded<String>
  ) -> Task<Void, Never> {
    switch self {
    case .outcome: Task { captured.note(await client.outcome(of: group, options: options).told, events) }
    case .send: Task { await Self.send(group, client, options, captured, events) }
    default:
      Task { @concurrent in captured.note(await client.outcome(of: group, options: options).told, events) }
    }
  }

  private static func send(
    _ group: some CallGroup, _ client: APIClient, _ options: GroupOptions, _ captured: Captured,
    _ events: Recorded<String>
  ) async {
    do {
      _ = try await client.send(group, options: options)
      captured.note("success", events)
    } catch {
      captured.note(error.stage.rawValue, events)
    }
  }
}
