import Dispatch
public import ErrandCore
import ErrandSupport
public import Foundation

/// A session for `BackgroundDownloads` or `BackgroundUploads` without the operating system. The test responds to the
/// started transfers, and simulates the end and the relaunch of the app.
///
/// ```swift
/// let session = ScriptedBackgroundSession()
/// let downloads = BackgroundDownloads(client, over: session, in: folder) { ending in … }
/// let film = try await downloads.start(GetFilm(id: 7, file: file))
/// try session.answer(film.id, .text("…"))
/// let file = try await film.value()
/// session.endProcess()
/// ```
///
/// The session reads the file of an upload only if the test calls ``body(of:)``. It sends events on the thread of the
/// test, except the end of a cancelled transfer, which it sends on its own queue.
public final class ScriptedBackgroundSession: BackgroundSession {
  private struct State: Sendable {
    var report: (@Sendable (BackgroundEvent) -> Void)?
    var orders: [BackgroundOrder] = []
    var running: Set<String> = []
    var refusal: TransportFailure?
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "errand.scripted.background")

  /// Creates a session without transfers.
  public init() {}

  // MARK: - For the test

  /// The descriptions of all started transfers. The transfer that was started first is first.
  public var orders: [BackgroundOrder] { state.withLock { $0.orders } }
  /// The names of the transfers that have not ended, sorted.
  public var running: [String] { state.withLock { $0.running.sorted() } }

  /// The bytes that an upload would send now. Nil if the transfer was not started, or is a download.
  /// - Throws: An error if the file is missing, or has changed since the transfer was started.
  public func body(of name: String) throws -> Data? {
    try orders.first { $0.name == name }?.request.body?.collected()
  }

  /// Makes every start of a transfer fail with `failure` from now on; nil lets transfers start again.
  public func refuse(_ failure: TransportFailure?) { state.withLock { $0.refusal = failure } }

  /// The error for a test that responds to a transfer that was not started.
  public struct UnknownTransfer: Error, CustomStringConvertible {
    /// The name that the test used.
    public let name: String
    /// The names of the started transfers.
    public let known: [String]
    /// Two sentences: the unknown name, and the names of the started transfers.
    public var description: String {
      "No transfer “\(name)” was started. Started transfers: \(known.isEmpty ? "none" : known.joined(separator: ", "))."
    }
  }

  /// Delivers a response: first a file with the body, and then the end of the transfer. If `answer` has a failure, the
  /// transfer ends with the failure, and no file is delivered. This also applies to a failure after a body.
  /// - Parameters:
  ///   - name: The name of the transfer, which is its id.
  ///   - answer: The response.
  ///   - url: The last URL after redirects; nil for the URL of the request.
  /// - Throws: ``UnknownTransfer``, or an error if the file cannot be written.
  public func answer(_ name: String, _ answer: ScriptedAnswer, from url: HTTPURL? = nil) throws {
    guard let order = orders.first(where: { $0.name == name }) else {
      throw UnknownTransfer(name: name, known: orders.map(\.name))
    }
    if let failure = answer.failure ?? answer.breakage { return end(name, .failed(failure)) }
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .notDirectory)
    try answer.body.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    report(.arrived(name: name, file: file, head: answer.head, url: url ?? order.request.url))
    end(name, .finished)
  }

  /// Ends a transfer and sends the event of its end.
  public func end(_ name: String, _ end: BackgroundEnd) {
    state.withLock { _ = $0.running.remove(name) }
    report(.ended(name: name, end))
  }

  /// Removes a transfer without sending an event, to simulate a system that loses a transfer.
  public func lose(_ name: String) { state.withLock { _ = $0.running.remove(name) } }

  /// Sends an event to the app. If the app is not running, the event is lost.
  public func report(_ event: BackgroundEvent) { state.withLock { $0.report }?(event) }

  /// Simulates the end of the app. The app receives no events until the next ``begin(_:)``; the transfers continue.
  public func endProcess() { state.withLock { $0.report = nil } }

  // MARK: - For the library

  /// Registers the closure that receives the events of the session.
  public func begin(_ report: @escaping @Sendable (BackgroundEvent) -> Void) { state.withLock { $0.report = report } }

  /// Starts a transfer. Throws if the test has called ``refuse(_:)`` with a failure.
  public func start(_ order: BackgroundOrder) throws {
    try state.withLock { state in
      if let refusal = state.refusal { throw refusal }
      state.orders.append(order)
      state.running.insert(order.name)
    }
  }

  /// Cancels a transfer, and sends the event of its end.
  public func cancel(_ name: String) {
    guard state.withLock({ $0.running.remove(name) }) != nil else { return }
    queue.async { self.report(.ended(name: name, .cancelled(nil))) }
  }

  /// The names of the transfers that have not ended.
  public func names() async -> Set<String> { state.withLock { $0.running } }
}
