import Dispatch
import Foundation

/// The queues of a transport: a serial one on which URLSession tells what happens, a serial one on which it is called,
/// and one for what may take its time.
final class SessionLanes: Sendable {
  /// What URLSession calls its delegate on.
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

  /// Runs what has to come between URLSession's callbacks.
  func telling(_ body: @escaping @Sendable () -> Void) { queue.addOperation(body) }

  /// Runs what calls URLSession.
  func calling(_ body: @escaping @Sendable () -> Void) { calls.async(execute: body) }

  /// Runs what judges a server, which must not hold up the others.
  func judging(_ body: @escaping @Sendable () -> Void) { judgements.async(execute: body) }
}
