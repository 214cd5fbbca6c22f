import ErrandSupport

/// Logs a warning, once per client, if the callback of a call waits five seconds for the main actor. The reason for
/// such a long wait is that the main thread is blocked, or that its run loop does not run.
final class DeliveryWatch: Sendable {
  private let id: UInt64
  private let name: String
  private let timers: any Timers
  private let registry: CallRegistry
  private let log: @Sendable (LogLine) -> Void
  private let token = Locked<TimerToken?>(nil)

  init(_ id: UInt64, _ name: String, _ snapshot: ClientSnapshot, _ registry: CallRegistry) {
    self.id = id
    self.name = name
    self.registry = registry
    timers = snapshot.timers
    log = snapshot.configuration.warningLog
  }

  func start() {
    let set = timers.schedule(at: timers.now.advanced(by: .seconds(5))) { [id, name, log, registry] in
      guard registry.takeWarning() else { return }
      let text = "the outcome of \(name) has waited five seconds for the main actor; do not block the main thread"
      log(LogLine(level: .warning, call: id, text: text))
    }
    token.withLock { $0 = set }
  }

  func stop() {
    if let set = token.withLock({ $0 }) { timers.cancel(set) }
  }
}
