import ErrandHTTP
import ErrandSupport
import Errand
import ErrandTesting
import Foundation

/// A sink that pauses or throws when a test requires it, and counts the calls it receives.
final class AwkwardSink: BodySink {
  struct Refusal: Error, Equatable { let place: String }

  /// The call in which it throws.
  enum Fault: Sendable, Hashable {
    case none, begin, end
    case write(Int)
  }

  private struct State {
    var pieces = 0
    var bytes = 0
    var ends = 0
    var flow: BodyFlow?
  }

  private let state = Locked(State())
  private let fault: Fault
  private let pauses: @Sendable (Int) -> Bool
  /// Opened when the sink has paused.
  let paused = Latch()

  /// `pauses` receives the number of the piece, from 1.
  init(_ fault: Fault = .none, pauses: @escaping @Sendable (Int) -> Bool = { _ in false }) {
    self.fault = fault
    self.pauses = pauses
  }

  var pieces: Int { state.withLock { $0.pieces } }
  var bytes: Int { state.withLock { $0.bytes } }
  var ends: Int { state.withLock { $0.ends } }

  func resume() { state.withLock { $0.flow }?.resume() }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    state.withLock { $0.flow = flow }
    if fault == .begin { throw Refusal(place: "begin") }
    return .sink
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    let number = state.withLock { state in
      state.pieces += 1
      state.bytes += piece.count
      return state.pieces
    }
    if fault == .write(number) { throw Refusal(place: "write") }
    guard pauses(number) else { return true }
    paused.open()
    return false
  }

  func end() throws {
    state.withLock { $0.ends += 1 }
    if fault == .end { throw Refusal(place: "end") }
  }
}
