import ErrandSupport
package import ErrandCore

/// A body source that yields the pieces that a test has prepared, and counts the reads.
package final class PieceSource: BodySource {
  package enum Step: Sendable {
    case bytes([UInt8]), later, fail
    /// Runs a closure during a read and continues with the next step.
    case hold(@Sendable () -> Void)
  }
  package struct Fault: Error, Equatable {
    package init() {}
  }

  /// A log that a test can read after the sources are gone.
  package final class Log: Sendable {
    private struct State {
      var (opened, closed) = (0, 0)
    }

    private let state = Locked(State())

    package init() {}

    package var opened: Int { state.withLock { $0.opened } }
    package var closed: Int { state.withLock { $0.closed } }

    package func open() { state.withLock { $0.opened += 1 } }
    package func close() { state.withLock { $0.closed += 1 } }
  }

  private var steps: ArraySlice<Step>
  private let log: Log
  private let onLater: @Sendable (BodyFlow) -> Void
  private let flow: BodyFlow

  package init(_ steps: [Step], _ log: Log, _ flow: BodyFlow, onLater: @escaping @Sendable (BodyFlow) -> Void) {
    self.steps = steps[...]
    self.log = log
    self.flow = flow
    self.onLater = onLater
    log.open()
  }

  deinit { log.close() }

  package func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    guard let step = steps.popFirst() else { return .end }
    switch step {
    case .fail: throw Fault()
    case .hold(let action):
      action()
      return try read(into: room)
    case .later:
      onLater(flow)
      return .later
    case .bytes(let bytes):
      let count = min(bytes.count, room.count)
      room.copyBytes(from: bytes[..<count])
      if count < bytes.count { steps.insert(.bytes(Array(bytes[count...])), at: steps.startIndex) }
      return .bytes(count)
    }
  }

  package static func body(
    _ steps: [Step], length: Int64? = nil, isReplayable: Bool = false, log: Log = Log(),
    onLater: @escaping @Sendable (BodyFlow) -> Void = { _ in }
  ) -> RequestBody {
    .stream(length: length, isReplayable: isReplayable) { flow in PieceSource(steps, log, flow, onLater: onLater) }
  }
}

/// A body source that never ends.
package final class EndlessSource: BodySource {
  private let log: PieceSource.Log

  package init(_ log: PieceSource.Log) {
    self.log = log
    log.open()
  }

  deinit { log.close() }

  package func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
    return .bytes(room.count)
  }
}
