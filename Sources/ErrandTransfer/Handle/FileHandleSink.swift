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
/// ```swift
/// let sink = FileHandleSink(handle)
/// client.start(outcomeOf: GetReport(), options: CallOptions(bodySink: sink)) { outcome in … }
/// ```
///
/// ``ErrandCore/APIClient/send(_:into:options:)`` does this for one call. Use a new sink for each call.
public final class FileHandleSink: BodySink {
  private struct State: Sendable {
    /// The bytes to write next. While a write is running, all further bytes are collected here.
    var gathered = Data()
    /// Whether the queue is writing, or is going to write, the collected bytes.
    var isWriting = false
    /// The number of bytes that are collected or being written.
    var held = 0
    var flow: BodyFlow?
    var isPaused = false
    var isLeft = false
    var failure: FileFailure?
  }

  private static let limit = 1 << 20

  private let handle: FileHandle
  private let queue = DispatchQueue(label: "errand.handle", qos: .userInitiated)
  private let state = Locked(State())

  /// Makes a sink that writes to a handle and leaves it open.
  public init(_ handle: FileHandle) { self.handle = handle }

  /// Stores the flow control of the body. Throws if the sink has received a body before.
  public func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    try state.withLock { state in
      guard state.flow == nil else { throw BodyBegunTwice() }
      state.flow = flow
    }
    return .sink
  }

  /// Copies the piece. Throws the failure of an earlier piece.
  public func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    let (begins, goesOn) = try state.withLock { state in
      if let failure = state.failure { throw failure }
      state.gathered.append(contentsOf: piece)
      state.held += piece.count
      state.isPaused = state.held > Self.limit
      defer { state.isWriting = true }
      return (!state.isWriting, !state.isPaused)
    }
    if begins { queue.async { self.putGathered() } }
    return goesOn
  }

  /// Does nothing, because the queue continues to write the buffered bytes.
  public func end() {}

  /// Waits until all received bytes are written. Throws the error of a failed write, or `CancellationError` if the task
  /// is cancelled.
  public func settle() async throws {
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

  private func putGathered() {
    while let data = takeGathered() { put(data) }
  }

  private func takeGathered() -> Data? {
    state.withLock { state in
      guard !state.gathered.isEmpty else {
        state.isWriting = false
        return nil
      }
      defer { state.gathered = Data() }
      return state.gathered
    }
  }

  private func put(_ data: Data) {
    do throws(FileFailure) {
      try write(data)
    } catch {
      state.withLock { [error] in $0.failure = error }
    }
    let flow = state.withLock { state -> BodyFlow? in
      state.held -= data.count
      guard state.isPaused, state.held < Self.limit / 2 || state.failure != nil else { return nil }
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

extension APIClient {
  /// Sends any request and writes the response body to an open file, pipe or socket as it arrives.
  ///
  /// The request's rules for status and content type apply: a response that they reject is not written to the handle,
  /// and the error carries it. The body is not decoded, so that the request's completion hooks are not called. The
  /// cache and the sharing of equal calls are not used. The whole call has no time-out unless one is set.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - handle: Receives the body, starting at its current offset. It stays open.
  ///   - options: The options of this call; their sink is replaced by the handle.
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
