import Dispatch
import Foundation

/// The two queues of a transport, both serial: one on which URLSession tells what happens, and one on which it is
/// called.
final class SessionLanes: Sendable {
  /// What URLSession calls its delegate on.
  let queue: OperationQueue
  private let calls = DispatchQueue(label: "errand.urlsession.calls", qos: .userInitiated)

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
}
