import Dispatch
import Foundation

/// The queues of a transport:
/// - a serial queue for URLSession's callbacks,
/// - a serial queue for calls to URLSession,
/// - a concurrent queue for the check of server certificates, which can be slow.
final class SessionLanes: Sendable {
  /// The queue on which URLSession calls its delegate.
  let queue: OperationQueue
  private let calls = DispatchQueue(label: "errand.urlsession.calls", qos: .userInitiated)
  private let judgements = DispatchQueue(
    label: "errand.urlsession.trust", qos: .userInitiated, attributes: .concurrent)

  init() {
    queue = OperationQueue()
    queue.name = "errand.urlsession"
    queue.maxConcurrentOperationCount = 1
    queue.qualityOfService = .userInitiated
  }

  /// Runs work on the queue of URLSession's callbacks.
  func telling(_ body: @escaping @Sendable () -> Void) { queue.addOperation(body) }

  /// Runs a call to URLSession on the queue for such calls.
  func calling(_ body: @escaping @Sendable () -> Void) { calls.async(execute: body) }

  /// Runs the check of a server's certificate on the concurrent queue, so that other work is not delayed.
  func judging(_ body: @escaping @Sendable () -> Void) { judgements.async(execute: body) }
}
