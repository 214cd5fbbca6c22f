import Dispatch
public import ErrandCore
import ErrandSupport
public import Foundation

/// A session for `BackgroundDownloads` or `BackgroundUploads` without a system: the test answers what was handed over,
/// and ends the app and starts it anew.
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
/// It reads no file that is uploaded unless the test asks for it by ``body(of:)``. It tells on the thread of the test; the
/// end of a cancelled transfer on another one.
public final class ScriptedBackgroundSession: BackgroundSession {
  private struct State: Sendable {
    var tell: (@Sendable (BackgroundEvent) -> Void)?
    var orders: [BackgroundOrder] = []
    var running: Set<String> = []
    var refusal: TransportFailure?
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "errand.scripted.background")

  /// Makes a session that has nothing under way.
  public init() {}

  // MARK: - What the test says

  /// What was handed over, in order.
  public var orders: [BackgroundOrder] { state.withLock { $0.orders } }
  /// The names of those that have not ended, in order.
  public var running: [String] { state.withLock { $0.running.sorted() } }

  /// The bytes that an upload would send now; nil for one that was not handed over, and for a download.
  /// - Throws: where its file is gone, or has changed since it was handed over.
  public func body(of name: String) throws -> Data? {
    guard let body = orders.first(where: { $0.name == name })?.request.body else { return nil }
    let source = try body.open(BodyFlow {})
    var whole = Data()
    try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { room in
      while case .bytes(let count) = try source.read(into: room) { whole.append(contentsOf: room[..<count]) }
    }
    return whole
  }

  /// Lets the system take nothing from now on; nil lets it take everything.
  public func refuse(_ failure: TransportFailure?) { state.withLock { $0.refusal = failure } }

  /// What was to be answered was not handed over.
  public struct UnknownTransfer: Error, CustomStringConvertible {
    /// The name that was said.
    public let name: String
    /// The names of those that were handed over.
    public let known: [String]
    /// A sentence.
    public var description: String {
      "No transfer “\(name)” was handed over; there are: \(known.isEmpty ? "none" : known.joined(separator: ", "))."
    }
  }

  /// Brings an answer: its body in a file, and then the end. One that fails or breaks off ends the transfer without a
  /// file.
  /// - Parameters:
  ///   - name: Which transfer, by its id.
  ///   - answer: The answer.
  ///   - url: The last URL after redirects; nil for the one that was asked.
  /// - Throws: ``UnknownTransfer``, and where the file cannot be written.
  public func answer(_ name: String, _ answer: ScriptedAnswer, from url: HTTPURL? = nil) throws {
    guard let order = orders.first(where: { $0.name == name }) else {
      throw UnknownTransfer(name: name, known: orders.map(\.name))
    }
    if let failure = answer.failure ?? answer.breakage { return end(name, .failed(failure)) }
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .notDirectory)
    try answer.body.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    tell(.came(name: name, file: file, head: answer.head, url: url ?? order.request.url))
    end(name, .finished)
  }

  /// Ends a transfer.
  public func end(_ name: String, _ end: BackgroundEnd) {
    state.withLock { _ = $0.running.remove(name) }
    tell(.ended(name: name, end))
  }

  /// Loses a transfer without a word.
  public func lose(_ name: String) { state.withLock { _ = $0.running.remove(name) } }

  /// Tells what the test says; nobody hears it where the app does not run.
  public func tell(_ event: BackgroundEvent) { state.withLock { $0.tell }?(event) }

  /// Ends the app: nobody listens until the next ``begin(_:)``, and the transfers go on.
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

  /// Ends a transfer, and tells so.
  public func cancel(_ name: String) {
    guard state.withLock({ $0.running.remove(name) }) != nil else { return }
    queue.async { self.tell(.ended(name: name, .cancelled(nil))) }
  }

  /// The names of those that have not ended.
  public func names() async -> Set<String> { state.withLock { $0.running } }
}
