import Dispatch
import Errand
import ErrandTesting

/// The methods that start a call.
enum DeliveryDoor: CaseIterable, Sendable {
  case send, sendElsewhere, closures, closuresOnQueue, delegate, outcome, outcomeOnQueue

  static let queue = DispatchQueue(label: "delivery.callbacks")

  var isOnQueue: Bool { self == .closuresOnQueue || self == .outcomeOnQueue }
  var isSend: Bool { self == .send || self == .sendElsewhere }

  /// Starts the call and records the terminal event as `told …`.
  @MainActor
  func start(_ fixture: DeliveryFixture, _ options: CallOptions, _ leaks: LeakCheck, _ captures: LeakCheck)
    -> StartedCall
  {
    let events = fixture.events
    let captured = Captured()
    captures.watch(captured, "captured object")
    switch self {
    case .send: return StartedCall(task: Task { await Self.send(fixture, options, captured) })
    case .sendElsewhere:
      return StartedCall(task: Task { @concurrent in await Self.send(fixture, options, captured) })
    case .closures:
      let call = fixture.client.start(fixture.request, options: options) { _ in
        captured.note("success", events)
      } onFailure: {
        captured.note($0.stage.rawValue, events)
      }
      return StartedCall(call: call)
    case .closuresOnQueue:
      let call = fixture.client.start(fixture.request, on: .queue(Self.queue), options: options) { _ in
        captured.note("success", events)
      } onFailure: {
        captured.note($0.stage.rawValue, events)
      }
      return StartedCall(call: call)
    case .delegate:
      let delegate = NotingDelegate(events)
      leaks.watch(delegate, "delegate")
      let call = fixture.client.start(fixture.request, options: options, delegate: delegate)
      return StartedCall(call: call, delegate: delegate)
    case .outcome:
      let call = fixture.client.start(outcomeOf: fixture.request, options: options) { captured.note($0.told, events) }
      return StartedCall(call: call)
    case .outcomeOnQueue:
      let call = fixture.client.start(outcomeOf: fixture.request, on: .queue(Self.queue), options: options) {
        captured.note($0.told, events)
      }
      return StartedCall(call: call)
    }
  }

  private static func send(_ fixture: DeliveryFixture, _ options: CallOptions, _ captured: Captured) async {
    do {
      _ = try await fixture.client.send(fixture.request, options: options)
      captured.note("success", fixture.events)
    } catch {
      captured.note(error.stage.rawValue, fixture.events)
    }
  }
}

/// A running call, independent of the method that started it.
struct StartedCall {
  var call: Call?
  var task: Task<Void, Never>?
  var delegate: NotingDelegate?

  func cancel() {
    call?.cancel()
    task?.cancel()
  }
}

extension Captured {
  func note(_ told: String, _ events: Recorded<String>) { events.append("told \(told)") }
}
