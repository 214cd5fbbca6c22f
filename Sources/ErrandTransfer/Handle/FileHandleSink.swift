import Dispatch
public import ErrandCore
import ErrandSupport
public import Foundation

/// Writes the response body to an open file, pipe or socket as it arrives, starting at the current offset of the
/// handle.
///
/// The transport's thread never waits. The sink buffers up to 1 MiB, then pauses the transfer until half of the buffer
/// has been written. The call ends when all bytes are written, so that the handle may be closed afterwards. A call that
/// is cancelled or times out discards the buffer within 50 ms. As with every sink, the body of a rejected response is
/// not written.
///
/// Use a new sink for each call.
package final class FileHandleSink: BodySink {
  private struct State: Sendable {
    /// The bytes that the next write will contain. Bytes that arrive during a write are collected here.
    var buffered = Data()
    /// Whether a job on the queue is writing bytes to the handle, or is about to do so.
    var isWriting = false
    /// The number of received bytes that are not written to the handle yet.
    var unwritten = 0
    var flow: BodyFlow?
    var isPaused = false
    var isLeft = false
    var failure: FileFailure?
  }

  private static let limit = 1 << 20

  private let handle: FileHandle
  private let queue = DispatchQueue(label: "errand.handle", qos: .userInitiated)
  private let state = Locked(State())

  /// Makes a sink that writes to a handle and leaves the handle open.
  package init(_ handle: FileHandle) { self.handle = handle }

  /// Stores the flow control of the body. Throws if the sink has received a body before.
  package func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    try state.withLock { state in
      guard state.flow == nil else { throw BodyBegunTwice() }
      state.flow = flow
    }
    return .sink
  }

  /// Copies a piece of the body into the buffer. Throws the error of an earlier write that failed.
  package func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    let (begins, acceptsMore) = try state.withLock { state in
      if let failure = state.failure { throw failure }
      state.buffered.append(contentsOf: piece)
      state.unwritten += piece.count
      state.isPaused = state.unwritten > Self.limit
      defer { state.isWriting = true }
      return (!state.isWriting, !state.isPaused)
    }
    if begins { queue.async { self.putBuffered() } }
    return acceptsMore
  }

  /// Called at the end of the response body. Does nothing, because the queue continues to write the buffered bytes.
  package func end() {}

  /// Waits until all received bytes are written. Throws the error of a failed write, or `CancellationError` if the task
  /// is cancelled.
  package func settle() async throws {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in queue.async { continuation.resume() } }
    } onCancel: {
      state.withLock { $0.isLeft = true }
    }
    let (isLeft, failure) = state.withLock { ($0.isLeft, $0.failure) }
    if let failure { throw failure }
    if isLeft { throw CancellationError() }
  }

  // MARK: - On the queue

  private func putBuffered() {
    while let data = takeBuffered() { put(data) }
  }

  private func takeBuffered() -> Data? {
    state.withLock { state in
      guard !state.buffered.isEmpty else {
        state.isWriting = false
        return nil
      }
      defer { state.buffered = Data() }
      return state.buffered
    }
  }

  private func put(_ data: Data) {
    do throws(FileFailure) {
      try write(data)
    } catch {
      state.withLock { [error] in $0.failure = error }
    }
    let flow = state.withLock { state -> BodyFlow? in
      state.unwritten -= data.count
      guard state.isPaused, state.unwritten < Self.limit / 2 || state.failure != nil else { return nil }
      state.isPaused = false
      return state.flow
    }
    flow?.resume()
  }

  private var isWanted: Bool { state.withLock { !$0.isLeft && $0.failure == nil } }

  private func write(_ data: Data) throws(FileFailure) {
    let writer = DescriptorWriter(handle.fileDescriptor)
    let result = data.withUnsafeBytes { bytes in
      Result { () throws(FileFailure) in try writer.write(bytes) { isWanted } }
    }
    try result.get()
  }
}

extension CallOptions {
  /// Makes options with which a call writes the response body to an open file, pipe or socket as it arrives, starting
  /// at the current offset of the handle.
  ///
  /// ```swift
  /// client.start(outcomeOf: GetReport(), options: .writing(to: handle)) { outcome in … }
  /// ```
  ///
  /// A slow reader pauses the transfer. The call ends when all bytes are written, so that the handle may be closed
  /// afterwards. As with every ``ErrandCore/CallOptions/bodySink``, the body of a rejected response is not written. Use
  /// the options for one call only.
  public static func writing(to handle: FileHandle) -> CallOptions { CallOptions(bodySink: FileHandleSink(handle)) }
}

extension APIClient {
  /// Sends any request and writes the response body to an open file, pipe or socket as it arrives.
  ///
  /// The request's rules for status and content type apply: a response that violates them is not written to the handle,
  /// and the error contains the response. The body is not decoded, so the request's completion hooks are not called.
  /// The cache and the sharing of equal calls are not used. By default, the call as a whole has no time-out.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - handle: The open file, pipe or socket that receives the body, starting at its current offset. It stays open.
  ///   - options: The options of this call. Their body sink is ignored, because the handle receives the body.
  /// - Returns: The response without its body, once all bytes are written.
  /// - Throws: ``ErrandCore/APIError``; with the code `sink` if the handle cannot be written to. The bytes received
  ///   before a failure may have been written.
  @discardableResult
  public func send<R: APIRequest>(
    _ request: R, into handle: FileHandle, options: CallOptions = CallOptions()
  ) async throws(APIError) -> HTTPResponse {
    var options = options
    options.bodySink = FileHandleSink(handle)
    return try await answer(to: request, options: options)
  }
}

/// Writes to an open file, pipe, socket or terminal without blocking for long, so that a slow or absent reader does not
/// delay a cancellation.
struct DescriptorWriter {
  /// The number of bytes that a writable pipe accepts without blocking.
  private static let pipePiece = 4_096
  /// The maximum time in milliseconds for which one call of `poll` waits until the descriptor is writable.
  private static let patience: Int32 = 50

  private let file: Int32
  private let isPlain: Bool

  init(_ file: Int32) {
    self.file = file
    var status = stat()
    isPlain = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Writes all bytes to the descriptor. Stops earlier if `mayContinue` returns false.
  func write(_ bytes: UnsafeRawBufferPointer, while mayContinue: () -> Bool) throws(FileFailure) {
    var rest = bytes[...]
    while !rest.isEmpty, mayContinue() {
      guard isPlain || isWritable() else { continue }
      let piece = isPlain ? rest : rest.prefix(Self.pipePiece)
      let count = Self.withoutSignal {
        Foundation.write(file, UnsafeRawBufferPointer(rebasing: piece).baseAddress, piece.count)
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR, errno != EAGAIN {
        throw FileFailure(.write, code: errno)
      }
    }
  }

  /// Whether the descriptor accepts bytes now. The value is also true if the descriptor has an error, for example
  /// because it is closed. The next write then reports the error.
  private func isWritable() -> Bool {
    guard file >= 0 else { return true }
    var question = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
    return poll(&question, 1, Self.patience) != 0
  }

  /// Runs a write to a descriptor. Writing to a pipe without a reader raises SIGPIPE, which would end the process. So
  /// the signal is blocked during the write and discarded afterwards.
  private static func withoutSignal(_ write: () -> Int) -> Int {
    var pipe = sigset_t()
    var before = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipe, &before)
    let count = write()
    let code = errno
    if count < 0, code == EPIPE {
      var pending = sigset_t()
      sigpending(&pending)
      var signal: Int32 = 0
      if sigismember(&pending, SIGPIPE) == 1 { sigwait(&pipe, &signal) }
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return count
  }
}
