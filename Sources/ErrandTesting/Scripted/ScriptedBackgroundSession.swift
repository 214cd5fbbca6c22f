import Dispatch
public import ErrandCore
import ErrandSupport
import Foundation

/// A session for `BackgroundDownloads` without a system: the test answers what was handed over, and ends the app and
/// starts it anew.
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
/// It tells on the thread of the test; the end of a cancelled download on another one.
public final class ScriptedBackgroundSession: BackgroundSession {
  private struct State: Sendable {
    var tell: (@Sendable (BackgroundEvent) -> Void)?
    var orders: [BackgroundOrder] = []
    var running: Set<String> = []
    var refusal: TransportFailure?
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "errand.scripted.background")

  /// Makes a session that has no downloads.
  public init() {}

  // MARK: - What the test says

  /// What was handed over, in order.
  public var orders: [BackgroundOrder] { state.withLock { $0.orders } }
  /// The names of those that have not ended, in order.
  public var running: [String] { state.withLock { $0.running.sorted() } }

  /// Lets the system take nothing from now on; nil lets it take everything.
  public func refuse(_ failure: TransportFailure?) { state.withLock { $0.refusal = failure } }

  /// Brings an answer: its body in a file, and then the end. A failure ends the download without a file.
  /// - Parameters:
  ///   - name: Which download, by its id.
  ///   - answer: The answer.
  ///   - url: The last URL after redirects; nil for the one that was asked.
  /// - Throws: where the file cannot be written.
  public func answer(_ name: String, _ answer: ScriptedAnswer, from url: HTTPURL? = nil) throws {
    if let failure = answer.failure { return end(name, .failed(failure)) }
    let asked = state.withLock { state in state.orders.first { $0.name == name }?.request.url }
    guard let url = url ?? asked else { return }
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .notDirectory)
    try answer.body.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    tell(.came(name: name, file: file, head: answer.head, url: url))
    end(name, .finished)
  }

  /// Ends a download.
  public func end(_ name: String, _ end: BackgroundEnd) {
    state.withLock { _ = $0.running.remove(name) }
    tell(.ended(name: name, end))
  }

  /// Loses a download without a word.
  public func lose(_ name: String) { state.withLock { _ = $0.running.remove(name) } }

  /// Tells what the test says; nobody hears it where the app does not run.
  public func tell(_ event: BackgroundEvent) { state.withLock { $0.tell }?(event) }

  /// Ends the app: nobody listens until the next ``begin(_:)``, and the downloads go on.
  public func endProcess() { state.withLock { $0.tell = nil } }

  // MARK: - What the library asks for

  /// Listens.
  public func begin(_ tell: @escaping @Sendable (BackgroundEvent) -> Void) { state.withLock { $0.tell = tell } }

  /// Notes what is handed over, unless it is refused.
  public func start(_ order: BackgroundOrder) throws {
    try state.withLock { state in
      if let refusal = state.refusal { throw refusal }
      state.orders.append(order)
      state.running.insert(order.name)
    }
  }

  /// Ends a download, and tells so.
  public func cancel(_ name: String) {
    guard state.withLock({ $0.running.remove(name) }) != nil else { return }
    queue.async { self.tell(.ended(name: name, .cancelled(nil))) }
  }

  /// The names of those that have not ended.
  public func names() async -> Set<String> { state.withLock { $0.running } }
}
