public import ErrandCache
public import ErrandCore
public import Foundation

/// A durable queue of changes: each request is stored before it is sent, and is delivered later, across crashes,
/// restarts and logouts.
///
/// ```swift
/// let outbox = try Outbox(folder: folder, client: client, requests: [Rename.self])
/// let receipt = try await outbox.add(Rename(noteID: "7", title: "x"))     // stored durably when this returns
/// let outcome = await receipt.outcome
/// ```
///
/// Requests are sent through the pipeline of the client, with its credentials, retries and limits. The outbox sends
/// each entry for the account that was logged in when it was added, and with an idempotency key that belongs to the
/// entry. So a server that recognises such keys carries out each request once.
///
/// Open an outbox once, when the app starts, and keep it. Several processes may open the same folder: one of them
/// sends, all may add; set ``OutboxConfiguration/pollInterval``, so that the sender notices what others add. The outbox
/// that sends has a file lock. iOS ends an app (0xdead10cc) that is suspended with a lock in the container of an app
/// group: call ``close()`` before, or use a folder in the app's own container.
///
/// All members may be called on any thread. The database is used on a thread of the outbox, except in the initialiser,
/// which opens it on the caller's thread.
public final class Outbox: Sendable {
  let runner: OutboxRunner

  /// Opens the outbox in a folder, and starts to send its entries. Entries of earlier runs that wait for the network or
  /// a login are tried at once; other waits between attempts continue.
  ///
  /// - Parameters:
  ///   - folder: A folder for this outbox alone. It is created if it does not exist.
  ///   - client: The client that sends the requests. The outbox keeps it.
  ///   - requests: All types of requests that may be stored. Entries of other types are kept, and wait.
  ///   - configuration: The settings.
  /// - Throws: ``OutboxError`` if the folder cannot be used, or if two types of requests have the same
  ///   ``OutboxRequest/outboxType``.
  public init(
    folder: URL, client: APIClient, requests: [any OutboxRequest.Type],
    configuration: OutboxConfiguration = OutboxConfiguration()
  ) throws(OutboxError) {
    runner = try OutboxRunner(OutboxFolder(folder), client, requests, configuration)
    runner.start()
  }

  deinit {
    let runner = runner
    Task { await runner.close() }
  }

  /// Stops sending and releases the folder. Running calls are cancelled, and their entries are sent again by the next
  /// outbox that opens the folder. The function returns when another process may send.
  public func close() async { await runner.close() }

  // MARK: - Adding

  /// Adds a request. When the function returns, the request is stored durably: a crash or a power cut does not lose it.
  ///
  /// The request belongs to the account that is logged in now. If this account is logged out or switched before the
  /// request is stored, for example while a large file is copied, the function throws an error with the code
  /// ``OutboxError/Code/account``.
  /// - Throws: ``OutboxError``. The request is then not stored.
  public func add<R: OutboxRequest>(_ request: R) async throws(OutboxError) -> OutboxReceipt<R> {
    try runner.check(request)
    let encoded = try runner.coding.encode(request)
    let rule = request.outbox
    let window = Self.window(of: request, rule)
    let account = runner.client.presentAccount ?? ""
    let watch = try await runner.withFiles(of: encoded) { runner in
      let facts = try runner.add(R.self, encoded, rule, account: account, window: window)
      return (facts.id, runner.watches.watch(facts))
    }
    return OutboxReceipt(id: .init(rawValue: watch.0), watch: watch.1, outbox: self)
  }

  /// How long the request may be sent again although an earlier attempt may have been carried out, in milliseconds; nil
  /// for always.
  private static func window(of request: some OutboxRequest, _ rule: OutboxRule) -> Int64? {
    switch request.idempotency {
    case .keyed: rule.keyWindow.milliseconds
    case .assumed: nil
    case .byMethod: request.method.isIdempotent ? nil : 0
    case .never: 0
    }
  }

  /// A receipt of an entry that was added earlier, also by another run of the program.
  /// - Throws: ``OutboxError`` if there is no such entry, or if it has another type.
  public func receipt<R: OutboxRequest>(
    for id: OutboxEntry.ID, of type: R.Type = R.self
  ) async throws(OutboxError) -> OutboxReceipt<R> {
    let watch = try await runner.perform { runner in
      let facts = try runner.facts(of: id, type: R.outboxType)
      return runner.watches.watch(facts)
    }
    return OutboxReceipt(id: id, watch: watch, outbox: self)
  }

  // MARK: - Sending

  /// Tries the entries again at once that wait for the network or a login. Call it, for example, when the app comes to
  /// the foreground. Opening an outbox has the same effect, so it is not necessary then.
  ///
  /// Call it also after each login, logout and switch of the account, unless the client's credential provider is the
  /// ``ErrandCore/CredentialStore`` that it had when the outbox was opened: the outbox does not notice the changes of
  /// another provider. In a process without the right to send, the call does not reach the process that sends.
  public func wake() { runner.wake() }

  /// Stops sending until ``resume()`` is called. Running calls continue. Requests can still be added.
  public func pause() { runner.queue.async { [runner] in runner.isPaused = true } }

  /// Sends again after ``pause()``. Calling it more than once has no further effect.
  public func resume() {
    runner.queue.async { [runner] in
      runner.isPaused = false
      runner.request()
    }
  }

  // MARK: - Observing

  /// An entry; nil if there is none with the number, or if it ended long ago.
  public func entry(_ id: OutboxEntry.ID) async throws(OutboxError) -> OutboxEntry? {
    try await runner.perform { try $0.store.facts(of: id.rawValue).map(OutboxEntry.init) }
  }

  /// Entries in the order in which they were added.
  ///
  /// - Parameters:
  ///   - states: The states of the entries.
  ///   - last: The last entry of the page before; nil for the first page.
  ///   - limit: The most entries to return.
  public func entries(
    in states: [OutboxState] = [.queued, .sending], after last: OutboxEntry.ID? = nil, limit: Int = 100
  ) async throws(OutboxError) -> [OutboxEntry] {
    try await runner.perform { try $0.store.entries(in: states, after: last?.rawValue ?? 0, limit: max(0, limit)) }
  }

  /// The entries that need a decision of the app: ``resend(_:)``, ``edit(_:to:)`` or ``discard(_:)``.
  public func deadLetters(
    after last: OutboxEntry.ID? = nil, limit: Int = 100
  ) async throws(OutboxError) -> [OutboxEntry] {
    try await entries(in: OutboxState.allCases.filter(\.isDeadLetter), after: last, limit: limit)
  }

  /// The lanes with entries that wait, in the order of their oldest entries.
  public func lanes(limit: Int = 100) async throws(OutboxError) -> [OutboxLane] {
    try await runner.perform { try $0.store.lanes(limit: max(0, limit)) }
  }

  /// The number of entries in each state, and the age of the oldest one.
  public var summary: OutboxSummary {
    get async throws(OutboxError) { try await runner.perform { try $0.store.summary() } }
  }

  /// A new sequence that delivers each later summary. A summary that is not read in time is replaced by the next one.
  public var summaries: AsyncStream<OutboxSummary> { runner.watches.summaries() }

  /// A new sequence that delivers each entry whose state this process changes. If another process changes an entry, it
  /// is delivered only if a receipt observes it. The sequence ends when the outbox is closed.
  public var changes: AsyncStream<OutboxEntry> { runner.watches.changes() }
}

/// The receipt of a request that was added to an ``Outbox``. The receipt keeps the outbox. The request is stored and
/// will be sent, also if the receipt is released.
public struct OutboxReceipt<Request: OutboxRequest>: Sendable, Identifiable {
  /// The number of the entry.
  public let id: OutboxEntry.ID
  let watch: EntryWatch
  /// Keeps the outbox open as long as the receipt exists.
  let outbox: Outbox

  /// The present state of the entry.
  public var state: OutboxState { watch.present }

  /// The present state and all later ones, up to the first final one. The sequence also ends if the outbox is closed,
  /// or if another process has removed the entry long after its end (``OutboxConfiguration/history``). It keeps the
  /// outbox, also if the receipt is released.
  public var states: AsyncStream<OutboxState> { watch.states(of: outbox) }

  /// Waits for the final state of the entry, and returns it with the value of the response.
  ///
  /// If the task is cancelled or the outbox is closed, returns the present state. If another process has sent and
  /// removed the entry before this process noticed its end, returns the last state that this process knows, such as
  /// ``OutboxState/queued``.
  public var outcome: OutboxOutcome<Request.Response> {
    get async {
      for await state in states where state.isFinal { break }
      let details = watch.details
      return OutboxOutcome(
        state: details.state, value: details.value as? Request.Response, reason: details.reason)
    }
  }

  /// Refers to the object that the request creates, for other requests that are added before it is delivered.
  public var reference: OutboxReference { OutboxReference(createdBy: id) }
}

/// The number of entries in each state.
public struct OutboxSummary: Sendable, Hashable {
  /// The number of entries in each state; states without entries are missing.
  public internal(set) var counts: [OutboxState: Int] = [:]
  /// The time at which the oldest entry that is queued or being sent was added; nil if there is none.
  public internal(set) var oldest: WallTime?

  /// The number of entries that are queued or being sent.
  public var waiting: Int { counts[.queued, default: 0] + counts[.sending, default: 0] }
  /// The number of entries that need a decision of the app.
  public var deadLetters: Int { counts.reduce(0) { $1.key.isDeadLetter ? $0 + $1.value : $0 } }
}

/// A lane with entries that wait.
public struct OutboxLane: Sendable, Hashable {
  /// The parts of the lane, percent-encoded and separated by slashes.
  public let name: String
  /// The account; nil for entries without an account.
  public let account: String?
  /// The number of entries that wait or stop the lane.
  public let count: Int
  /// The first of these entries.
  public let first: OutboxEntry.ID
  /// True if a failed entry stops the lane.
  public let isStopped: Bool
}

/// What happens to the entries of an account that logs out.
public enum OutboxLogout: Sendable, Hashable {
  /// The entries wait until the account logs in again.
  case keep
  /// The entries are sent first, until none is left or the time has passed. The rest is kept. If another process sends,
  /// this process notices the end within five seconds.
  case sendFirst(within: Duration)
  /// The entries are discarded.
  case discard
}
