import Dispatch
import Errand
import Foundation
import Synchronization

/// Takes a body and writes it to an open file or pipe, on a queue of its own; a slow reader slows the server down.
final class StreamSink: BodySink {
  /// A write that failed.
  struct WriteFailure: Error, CustomStringConvertible {
    /// The system's error number.
    let code: Int32
    /// Whether nobody reads any more.
    var isBrokenPipe: Bool { code == EPIPE }
    var description: String { "The body cannot be written: \(String(cString: strerror(code)))." }
  }

  private struct State: Sendable {
    var queued = 0
    var flow: BodyFlow?
    var isPaused = false
    var failure: WriteFailure?
  }

  private static let limit = 1 << 20

  private let descriptor: Int32
  private let queue = DispatchQueue(label: "errand.output")
  private let state = Mutex(State())

  /// Makes a sink that writes to an open descriptor, which stays open.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    state.withLock { $0.flow = flow }
    return .sink
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    let data = Data(piece)
    let goesOn = try state.withLock { state in
      if let failure = state.failure { throw failure }
      state.queued += data.count
      state.isPaused = state.queued > Self.limit
      return !state.isPaused
    }
    queue.async { self.put(data) }
    return goesOn
  }

  func end() throws {}

  /// Returns when all that was taken is written.
  func drained() async throws(WriteFailure) {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private func put(_ data: Data) {
    var failure: WriteFailure?
    if state.withLock({ $0.failure == nil }) {
      failure = Terminal.put(data, into: descriptor).map { WriteFailure(code: $0) }
    }
    let resumed = state.withLock { state -> BodyFlow? in
      state.failure = state.failure ?? failure
      state.queued -= data.count
      guard state.isPaused, state.queued < Self.limit / 2 else { return nil }
      state.isPaused = false
      return state.flow
    }
    resumed?.resume()
  }
}
