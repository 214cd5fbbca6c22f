#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A point that a ``LoopbackServer`` waits at until the test lets it go on.
///
/// A gate replaces sleeping in tests: the server stops at the gate, the test learns that it is there, does what
/// it is about (cancels, moves a clock, looks at state), and opens the gate.
///
/// ```swift
/// let gate = Gate()
/// let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
/// let call = Task { try await fetch(server.url) }
/// try await gate.reached()      // the request is at the server, nothing is answered yet
/// call.cancel()
/// gate.open()
/// ```
///
/// One gate may stand in several answers and be waited at by several connections. A server that is stopped and a
/// client that leaves also end the wait, so a gate that is never opened holds nothing up for ever.
public final class Gate: Sendable {
  /// Passes are bytes in a pipe, so that a connection can wait for the gate, its peer and the stop in one `poll`.
  private struct State: Sendable {
    var isOpen = false
    var passes = 0
    var arrivals = 0
    var reader: Int32?
    var writer: Int32?
  }

  private let state = Observed(State())

  /// Makes a gate that is shut.
  public init() {}

  deinit {
    let state = state.value
    for descriptor in [state.reader, state.writer].compactMap({ $0 }) { close(descriptor) }
  }

  /// Opens the gate for good: everyone who waits goes on, and nobody waits here again.
  public func open() {
    state.update { state in
      state.isOpen = true
      if let writer = state.writer { close(writer) }
      state.writer = nil
    }
  }

  /// Lets as many waits as `count` pass, now or later, and leaves the gate shut for the next.
  public func letPass(_ count: Int = 1) {
    state.update { state in
      let (passes, isTooMany) = state.passes.addingReportingOverflow(max(0, count))
      state.passes = isTooMany ? .max : passes
      Self.signal(max(0, count), to: state.writer)
    }
  }

  /// How often a server has come to this gate, whether it had to wait there or not.
  public var arrivals: Int { state.value.arrivals }

  /// Returns once a server has come to this gate, the given number of times in all.
  ///
  /// - Parameters:
  ///   - times: How many arrivals to wait for, counted from the gate's making.
  ///   - bound: How long to wait at most.
  /// - Throws: ``LoopbackError/notReached(_:within:)`` when `bound` has passed, `CancellationError` when the task
  ///   is cancelled.
  public func reached(times: Int = 1, within bound: Duration = .seconds(30)) async throws {
    try await state.wait(for: "arrival \(times) at a gate", within: bound) { $0.arrivals >= times }
  }

  /// Notes that a server has come here.
  func arrive() {
    state.update { $0.arrivals += 1 }
  }

  /// Whether the gate was opened for good.
  var isOpen: Bool { state.value.isOpen }

  /// Takes one pass if there is one.
  func takePass() -> Bool {
    state.update { state in
      if state.isOpen { return true }
      if let reader = state.reader {
        var byte: UInt8 = 0
        _ = read(reader, &byte, 1)
      }
      guard state.passes > 0 else { return false }
      state.passes -= 1
      return true
    }
  }

  /// A descriptor that is readable when there may be a pass. Valid as long as the gate lives.
  func wakeDescriptor() throws -> Int32 {
    let made: Result<Int32, LoopbackError> = state.update { state in
      if let reader = state.reader { return .success(reader) }
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return .failure(.system(call: "pipe", code: errno)) }
      for end in ends { Self.prepare(end) }
      state.reader = ends[0]
      state.writer = ends[1]
      Self.signal(state.passes, to: state.writer)
      if state.isOpen {
        close(ends[1])
        state.writer = nil
      }
      return .success(ends[0])
    }
    return try made.get()
  }

  /// Closes the pipe. Only for a gate that is open and that nobody waits at any more.
  func retire() {
    state.update { state in
      if let reader = state.reader { close(reader) }
      state.reader = nil
    }
  }

  private static func prepare(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  private static func signal(_ count: Int, to writer: Int32?) {
    guard let writer, count > 0 else { return }
    let bytes = [UInt8](repeating: 1, count: min(count, 4096))
    _ = write(writer, bytes, bytes.count)
  }
}
