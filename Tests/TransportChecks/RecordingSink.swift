import ErrandSupport
package import ErrandCore
package import Foundation

/// A body sink that records what it receives, and pauses or fails when a test requires it.
package final class RecordingSink: BodySink {
  package struct Refusal: Error, Equatable {
    package init() {}
  }

  struct State {
    var heads: [ResponseHead] = []
    var bytes = Data()
    var count = 0
    var pieces = 0
    var ends = 0
    var flow: BodyFlow?
  }

  private let state = Locked(State())
  private let disposition: @Sendable (ResponseHead) throws -> BodyDisposition
  private let keeps: Bool
  private let onPiece: @Sendable (Int, BodyFlow) throws -> Bool

  /// `onPiece` receives the number of the piece, from 1, and the flow that resumes the body.
  package init(
    keeps: Bool = true,
    disposition: @escaping @Sendable (ResponseHead) throws -> BodyDisposition = { _ in .sink },
    onPiece: @escaping @Sendable (Int, BodyFlow) throws -> Bool = { _, _ in true }
  ) {
    self.keeps = keeps
    self.disposition = disposition
    self.onPiece = onPiece
  }

  package var heads: [ResponseHead] { state.withLock { $0.heads } }
  package var bytes: Data { state.withLock { $0.bytes } }
  package var count: Int { state.withLock { $0.count } }
  package var pieces: Int { state.withLock { $0.pieces } }
  package var ends: Int { state.withLock { $0.ends } }
  package func resume() { state.withLock { $0.flow }?.resume() }

  package func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    state.withLock { state in
      state.heads.append(head)
      state.flow = flow
    }
    return try disposition(head)
  }

  package func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    let (number, flow) = state.withLock { state in
      state.pieces += 1
      state.count += piece.count
      if keeps { state.bytes.append(contentsOf: piece) }
      return (state.pieces, state.flow)
    }
    guard let flow else { return true }
    return try onPiece(number, flow)
  }

  package func end() { state.withLock { $0.ends += 1 } }
}
