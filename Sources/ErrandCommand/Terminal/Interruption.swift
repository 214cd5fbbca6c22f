import Dispatch
import ErrandSupport
import Foundation

/// Handles interrupts from the keyboard and termination requests of the system, so that the command can clean up first.
///
/// The first signal calls the handler. A second signal ends the process at once.
struct Interruption {
  /// The first termination signal other than SIGINT that the process received; nil if there was none.
  private static let last = Locked<Int32?>(nil)

  private let numbers = Self.signals
  private let sources: [any DispatchSourceSignal]

  /// Installs the handlers. Returns only when they are active, because a signal that arrives earlier would be lost.
  ///
  /// Each signal also gets a system handler that does nothing, so that the signal does not end the process. The signal
  /// is not ignored, because programs that the command starts would then ignore the signal, too.
  ///
  /// - Parameters:
  ///   - cleanUp: Removes leftovers, such as an incomplete file, before the second signal ends the process. Runs on a
  ///     system thread.
  ///   - handler: Reacts to the first signal. Runs once, on a system thread.
  init(cleanUp: @escaping @Sendable () -> Void = {}, _ handler: @escaping @Sendable () -> Void) async {
    let hasReceivedSignal = Locked(false)
    sources = numbers.map { number in
      signal(number) { _ in }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { @Sendable in
        if number != SIGINT { Self.last.withLock { $0 = $0 ?? number } }
        if hasReceivedSignal.setOnce() { return handler() }
        cleanUp()
        _exit(ExitCode.interrupted.rawValue)
      }
      return source
    }
    for source in sources {
      await withCheckedContinuation { continuation in
        source.setRegistrationHandler { @Sendable in continuation.resume() }
        source.resume()
      }
    }
  }

  /// The signals to handle: those that the process does not ignore. A process that was started with `nohup` must
  /// outlive its terminal, and a process that a shell started in the background ignores interrupts from the keyboard.
  private static var signals: [Int32] {
    [SIGINT, SIGTERM, SIGHUP].filter { number in
      var old = sigaction()
      sigaction(number, nil, &old)
      return !isIgnored(old)
    }
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    #if canImport(Darwin)
      unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    #else
      unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    #endif
  }

  /// Removes the handlers. After this call, an interrupt or a termination request ends the process.
  func stop() {
    for source in sources { source.cancel() }
    for number in numbers { signal(number, SIG_DFL) }
  }

  /// If the process has received a termination signal, ends the process with this signal, so that the parent process
  /// sees the signal as the cause.
  static func raiseReceivedSignal() {
    guard let number = last.withLock({ $0 }) else { return }
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    signal(number, SIG_DFL)
    raise(number)
    // If this thread blocks the signal, `raise` does not end the process yet. Unblocking the signal does.
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
