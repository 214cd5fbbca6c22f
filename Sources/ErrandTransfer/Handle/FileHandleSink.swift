import Dispatch
public import ErrandCore
import ErrandSupport
public import Foundation

/// Writes the body of an answer to an open file, pipe or socket while it comes, from the handle's place on.
///
/// Nothing waits on the transport's thread: up to 1 MiB is held, then the server is slowed down until the reader has
/// taken half of it. The call ends when all is written, so that the handle may be closed after it; a call that is
/// cancelled or out of time lets go of what is held, within 50 ms. An error page stays out, as with every sink.
///
/// ```swift
/// let sink = FileHandleSink(handle)
/// client.start(outcomeOf: GetReport(), options: CallOptions(bodySink: sink)) { outcome in … }
/// ```
///
/// ``ErrandCore/APIClient/send(_:into:options:)`` does this for one call. A sink is for one call.
public final class FileHandleSink: BodySink {
  private struct State: Sendable {
    /// The bytes to write next. While a write is running, all further bytes are gathered here.
    var gathered = Data()
    /// Whether the queue is going to write what was gathered.
    var isWriting = false
    /// The bytes that are gathered or being written.
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

  /// Makes a sink that writes to a handle, which stays open.
  public init(_ handle: FileHandle) { self.handle = handle }

  /// Notes how the body is slowed down. Throws where a body had begun before.
  public func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    try state.withLock { state in
      guard state.flow == nil else { throw BodyBegunTwice() }
      state.flow = flow
    }
    return .sink
  }

  /// Takes a copy of the piece. Throws what an earlier piece failed with.
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

  /// Does nothing: what is held is written on.
  public func end() {}

  /// Returns when all that was taken is written. Throws what a piece failed with, and where the task is cancelled.
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
  /// Sends a request of any kind and writes the body of its answer to an open file, pipe or socket while it comes.
  ///
  /// The request's rules for status and content type hold: an answer they refuse does not reach the handle, and stands
  /// in the error. No value is made of the body, so that the request's completion hooks hear nothing; the cache and
  /// other calls are left out. There is no time-out for the whole call unless one is set.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - handle: Where the body goes, from the handle's place on. It stays open.
  ///   - options: What is chosen for this call; its sink is the handle.
  /// - Returns: The answer without its body, once all of it is written.
  /// - Throws: ``ErrandCore/APIError``; of the code `sink` where the handle cannot be written to. What came before a
  ///   failure may have been written.
  @discardableResult
  public func send<R: APIRequest>(
    _ request: R, into handle: FileHandle, options: CallOptions = CallOptions()
  ) async throws(APIError) -> HTTPResponse {
    var options = options
    options.bodySink = FileHandleSink(handle)
    return try await answer(to: request, options: options)
  }
}
