import Dispatch
import ErrandSupport
import Foundation

/// Listens for an interrupt from the keyboard and for the wish of the system that the process ends, so that what is under
/// way can end in order.
///
/// Who asks twice does not want to wait: the process is left at once then.
struct Interruption {
  /// The signal that came first, where it is one that a process ends by.
  private static let last = Locked<Int32?>(nil)

  private let numbers = Self.signals
  private let sources: [any DispatchSourceSignal]

  /// Returns once it is listened for: one that came earlier would be lost.
  ///
  /// - Parameters:
  ///   - leaving: What must not be left behind, where the process is left at once. On a thread of the system's.
  ///   - handler: What to do, once, on a thread of the system's.
  init(leaving: @escaping @Sendable () -> Void = {}, _ handler: @escaping @Sendable () -> Void) async {
    let hasCome = Locked(false)
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { @Sendable in
        if number != SIGINT { Self.last.withLock { $0 = $0 ?? number } }
        let isSecond = hasCome.withLock { hasCome in
          defer { hasCome = true }
          return hasCome
        }
        guard isSecond else { return handler() }
        leaving()
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

  /// A process that was started to outlive its terminal stays deaf to the end of that.
  private static var signals: [Int32] {
    var old = sigaction()
    sigaction(SIGHUP, nil, &old)
    return isIgnored(old) ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    #if canImport(Darwin)
      unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    #else
      unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    #endif
  }

  /// Listens no longer: from here on such a signal ends the process.
  func stop() {
    for source in sources { source.cancel() }
    for number in numbers { signal(number, SIG_DFL) }
  }

  /// Ends the process by the signal that was to end it, where there was one: whoever sent it sees that it had its effect.
  static func pass() {
    guard let number = last.withLock({ $0 }) else { return }
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    signal(number, SIG_DFL)
    raise(number)
    // It waits where the thread has been made deaf to it meanwhile.
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
