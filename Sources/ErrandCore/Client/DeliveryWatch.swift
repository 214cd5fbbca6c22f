import Foundation

/// Warns when a delivery waits for the main actor for five seconds: the main thread is blocked, or nobody runs it.
final class DeliveryWatch: Sendable {
  private static let warned = Locked(false)

  private let info: CallInfo
  private let timers: any Timers
  private let log: @Sendable (LogLine) -> Void
  private let token = Locked<TimerToken?>(nil)

  init(_ info: CallInfo, _ snapshot: ClientSnapshot) {
    self.info = info
    timers = snapshot.timers
    log = snapshot.configuration.log ?? { FileHandle.standardError.write(Data("errand \($0)\n".utf8)) }
  }

  private static var isFirstWarning: Bool {
    warned.withLock { warned in
      defer { warned = true }
      return !warned
    }
  }

  func start() {
    let set = timers.schedule(at: timers.now.advanced(by: .seconds(5))) { [info, log] in
      guard Self.isFirstWarning else { return }
      let text = "the answer of \(info.name) has waited five seconds for the main actor; keep the main thread running"
      log(LogLine(level: .warning, call: info.id, text: text))
    }
    token.withLock { $0 = set }
  }

  func stop() {
    if let set = token.withLock({ $0 }) { timers.cancel(set) }
  }
}
