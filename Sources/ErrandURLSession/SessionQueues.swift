import Dispatch
import Foundation

/// The queues of a transport:
/// - a serial queue for URLSession's callbacks,
/// - a serial queue for calls to URLSession,
/// - a concurrent queue for the check of server certificates, which can be slow.
final class SessionQueues: Sendable {
  /// The queue on which URLSession calls its delegate.
  let callbackQueue: OperationQueue
  private let calls = DispatchQueue(label: "errand.urlsession.calls", qos: .userInitiated)
  private let trustChecks = DispatchQueue(
    label: "errand.urlsession.trust", qos: .userInitiated, attributes: .concurrent)

  init() {
    callbackQueue = OperationQueue()
    callbackQueue.name = "errand.urlsession"
    callbackQueue.maxConcurrentOperationCount = 1
    callbackQueue.qualityOfService = .userInitiated
  }

  /// Runs a closure on the queue on which URLSession calls its delegate.
  func runCallback(_ body: @escaping @Sendable () -> Void) { callbackQueue.addOperation(body) }

  /// Runs a closure that calls URLSession, on the serial queue for such closures.
  func runCall(_ body: @escaping @Sendable () -> Void) { calls.async(execute: body) }

  /// Runs the check of a server's certificate on the concurrent queue, so that other work is not delayed.
  func runTrustCheck(_ body: @escaping @Sendable () -> Void) { trustChecks.async(execute: body) }
}
