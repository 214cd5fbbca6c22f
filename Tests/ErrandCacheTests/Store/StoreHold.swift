import Dispatch
import ErrandSupport
import Foundation

/// Blocks the thread of a store while it seals or opens a body that begins with “hold”.
final class StoreHold: Sendable {
  private let gate = DispatchSemaphore(value: 0)
  private let isHeld = Locked(false)
  var isReached: Bool { isHeld.withLock { $0 } }

  func pass(_ body: Data) -> Data {
    guard body.starts(with: Data("hold".utf8)) else { return body }
    isHeld.withLock { $0 = true }
    gate.wait()
    gate.signal()
    return body
  }

  func reached() async {
    while !isReached { await Task.yield() }
  }

  func open() { gate.signal() }
}
