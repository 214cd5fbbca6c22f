#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A point at which a ``LoopbackServer`` waits until the test lets it continue.
///
/// A gate replaces sleeping in tests. The server waits at the gate. The test waits until the server has arrived there,
/// performs its action, such as cancelling a call or advancing a clock, and opens the gate.
///
/// ```swift
/// let gate = Gate()
/// let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
/// let call = Task { try await fetch(server.url) }
/// try await gate.reached()      // the server has the request and has sent nothing yet
/// call.cancel()
/// gate.open()
/// ```
///
/// Several responses may use one gate, and several connections may wait at one gate. A wait also ends when the server
/// is stopped or the client closes the connection, so a gate that is never opened does not block forever.
public final class Gate: Sendable {
  /// The state of a gate: whether it is open, and the number of permissions to pass the gate.
  /// A connection waits for the gate with the system call `poll`, which can wait only for file descriptors. So the gate
  /// has a pipe, which contains one byte while there are permissions to pass the gate.
  private struct State: Sendable {
    var isOpen = false
    var passes = 0
    var arrivals = 0
    var reader: Int32?
    var writer: Int32?
  }

  private let state = Observed(State())

  /// Creates a closed gate.
  public init() {}

  deinit {
    let state = state.value
    for descriptor in [state.reader, state.writer].compactMap({ $0 }) { close(descriptor) }
  }

  /// Opens the gate permanently: all waiting connections continue, and no connection waits at this gate again.
  public func open() {
    state.update { state in
      state.isOpen = true
      if let writer = state.writer { close(writer) }
      state.writer = nil
    }
  }

  /// Lets the next `count` connections pass, including connections that are already waiting. The gate stays closed for
  /// all further connections.
  public func letPass(_ count: Int = 1) {
    guard count > 0 else { return }
    state.update { state in
      if state.passes == 0 { Self.signal(state.writer) }
      let (passes, isTooMany) = state.passes.addingReportingOverflow(count)
      state.passes = isTooMany ? .max : passes
    }
  }

  /// The number of times that a server has arrived at this gate. Arrivals at an open gate are included.
  public var arrivals: Int { state.value.arrivals }

  /// Waits until a server has arrived at this gate `times` times in total.
  ///
  /// - Parameters:
  ///   - times: The number of arrivals, counted from the creation of the gate.
  ///   - bound: The maximum time to wait.
  /// - Throws: ``LoopbackError/notReached(_:within:)`` after `bound`; `CancellationError` if the task is cancelled.
  public func reached(times: Int = 1, within bound: Duration = .seconds(30)) async throws {
    try await state.wait(for: "arrival \(times) at a gate", within: bound) { $0.arrivals >= times }
  }

  /// Records that a server has arrived at the gate, and resumes the tests that wait for this arrival.
  func arrive() {
    state.update { $0.arrivals += 1 }
  }

  /// Whether the gate is permanently open.
  var isOpen: Bool { state.value.isOpen }

  /// Returns whether a connection may pass the gate. If the gate is not open, the function uses up one permission to
  /// pass. If no permission is left, the result is false.
  func takePass() -> Bool {
    state.update { state in
      if state.isOpen { return true }
      guard state.passes > 0 else { return false }
      state.passes -= 1
      if state.passes == 0, let reader = state.reader {
        var byte: UInt8 = 0
        _ = read(reader, &byte, 1)
      }
      return true
    }
  }

  /// The file descriptor of the gate's pipe, which the first call creates. The descriptor is readable while the gate
  /// is open or has permissions to pass. It is valid until `retire()` is called or the gate is deallocated.
  func wakeDescriptor() throws -> Int32 {
    let made: Result<Int32, LoopbackError> = state.update { state in
      if let reader = state.reader { return .success(reader) }
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return .failure(.system(call: "pipe", code: errno)) }
      for end in ends { Self.prepare(end) }
      state.reader = ends[0]
      state.writer = ends[1]
      if state.passes > 0 { Self.signal(state.writer) }
      if state.isOpen {
        close(ends[1])
        state.writer = nil
      }
      return .success(ends[0])
    }
    return try made.get()
  }

  /// Closes the pipe that wakes waiting connections. Call this function only if the gate is open and no connection
  /// waits at the gate.
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

  /// Writes one byte into the gate's pipe, which wakes the waiting connections. If `writer` is nil, the gate has no
  /// pipe, and the function does nothing.
  private static func signal(_ writer: Int32?) {
    guard let writer else { return }
    var byte: UInt8 = 1
    _ = write(writer, &byte, 1)
  }
}
