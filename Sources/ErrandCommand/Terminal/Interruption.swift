import Dispatch
import Foundation

/// Listens for an interrupt from the keyboard, so that what is under way can end in order.
struct Interruption {
  private let source: any DispatchSourceSignal

  /// Returns once it is listened for: one that came earlier would be lost.
  ///
  /// - Parameter handler: What to do, each time, on a thread of the system's.
  init(_ handler: @escaping @Sendable () -> Void) async {
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler { @Sendable in handler() }
    await withCheckedContinuation { continuation in
      source.setRegistrationHandler { @Sendable in continuation.resume() }
      source.resume()
    }
  }

  /// Listens no longer.
  func stop() { source.cancel() }
}
