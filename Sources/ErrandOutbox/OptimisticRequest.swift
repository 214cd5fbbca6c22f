public import ErrandCore
import ErrandSupport

/// A request of an ``Outbox`` that declares how it will change values, so that the app can show the change before the
/// server has carried it out.
///
/// ```swift
/// extension Rename: OptimisticRequest {
///   func patches(of entry: OutboxEntry.ID) -> [OutboxPatch] {
///     [.changing(GetNote.self) { note, request in
///       if request.noteID == noteID { note.title = title }
///     }]
///   }
/// }
/// for try await note in outbox.values(of: GetNote(noteID: "7")) { show(note) }
/// ```
///
/// The patches of all entries of the present account that are queued or being sent apply, in the order in which the
/// entries were added. They come from the stored requests, so they apply after a restart, too. If an entry is rejected,
/// parked, cancelled or expires, its patches no longer apply.
public protocol OptimisticRequest: OutboxRequest {
  /// How the request changes values. Patches must be repeatable, such as an assignment: a value may contain the change
  /// already, if the server has carried out the request and the outbox does not know yet.
  ///
  /// - Parameter entry: The entry of this request. `OutboxReference(createdBy: entry).description` is an identifier for
  ///   an object that the request creates, until the server has assigned one. References of other requests to the
  ///   object have the same text.
  func patches(of entry: OutboxEntry.ID) -> [OutboxPatch]
}

/// A change of the responses of one type of request: see ``OptimisticRequest``.
public struct OutboxPatch: Sendable {
  let target: ObjectIdentifier
  private let apply: @Sendable (any APIRequest, any Sendable) -> any Sendable

  /// Changes the responses of a type of request. The closure receives the response and its request, and is called on
  /// any thread.
  public static func changing<R: APIRequest>(
    _ type: R.Type, _ change: @escaping @Sendable (inout R.Response, R) -> Void
  ) -> OutboxPatch {
    OutboxPatch(target: ObjectIdentifier(type)) { request, value in
      guard let request = request as? R, var response = value as? R.Response else { return value }
      change(&response, request)
      return response
    }
  }

  private init(target: ObjectIdentifier, _ apply: @escaping @Sendable (any APIRequest, any Sendable) -> any Sendable) {
    self.target = target
    self.apply = apply
  }

  func applied<R: APIRequest>(to value: R.Response, of request: R) -> R.Response {
    apply(request, value) as? R.Response ?? value
  }
}

/// The patches of one entry.
struct EntryPatches: Sendable {
  let id: Int64
  /// A text that changes if the request changes, or if a reference gets its identifier.
  let state: String
  let patches: [OutboxPatch]

  func applied<R: APIRequest>(to value: R.Response, of request: R) -> R.Response {
    patches.reduce(value) { $1.target == ObjectIdentifier(R.self) ? $1.applied(to: $0, of: request) : $0 }
  }
}

extension Outbox {
  /// Sends a request that reads a value, and lays the changes of waiting entries over its response.
  /// - Throws: ``ErrandCore/APIError`` if the call fails, ``OutboxError`` if the entries cannot be read.
  public func value<R: APIRequest>(of request: R, options: CallOptions = CallOptions()) async throws -> R.Response {
    let before = try await runner.perform { try $0.waitingPatches(for: R.self) }
    var value = try await runner.client.send(request, options: options)
    let now = try await runner.perform { try $0.waitingPatches(for: R.self) }
    // An entry may be delivered after the server has read the value.
    for old in before where !now.contains(where: { $0.id == old.id }) {
      if try await entry(.init(rawValue: old.id))?.state == .delivered { value = old.applied(to: value, of: request) }
    }
    return now.reduce(value) { $1.applied(to: $0, of: request) }
  }

  /// Lays the changes of waiting entries over a value that the app has received in another way, for example from a
  /// stream of events.
  public func patched<R: APIRequest>(
    _ value: R.Response, of request: R
  ) async throws(OutboxError) -> R.Response {
    try await runner.perform { try $0.waitingPatches(for: R.self) }.reduce(value) { $1.applied(to: $0, of: request) }
  }

  /// The values of a request that reads, with the changes of waiting entries laid over them: the stored response if
  /// there is one, then the response of the server, then another value each time that a waiting change begins or ends.
  ///
  /// After the delivery of an entry, its change stays, and the request is sent again for the value that the server has
  /// made of it. It is also sent again if another account logs in. A value that is not read in time is replaced by the
  /// next one. The sequence keeps the outbox, and ends when the outbox is closed. It throws ``ErrandCore/APIError`` if
  /// there is no stored response and the first call of an account fails. If a later call fails, the last known value
  /// stays.
  public func values<R: APIRequest>(of request: R) -> AsyncThrowingStream<R.Response, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task { await PatchedValues(self, request, continuation).run() }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}

/// The work behind one sequence of ``Outbox/values(of:)``: one task, which handles the results of calls and the changes
/// of entries one after the other.
private struct PatchedValues<R: APIRequest> {
  private enum Event: Sendable {
    /// A response of a call.
    case base(R.Response, Stamp)
    case failed(APIError, Stamp)
    case touched
  }

  /// Says when a call began.
  private struct Stamp: Sendable {
    /// The number of changes of the account before the call.
    var accounts = 0
    /// The number of deliveries before the call.
    var deliveries = 0
  }

  private let outbox: Outbox
  private let request: R
  private let output: AsyncThrowingStream<R.Response, any Error>.Continuation
  private var base: R.Response?
  /// The account for which `base` was received.
  private var account: String
  private var laidOver: [EntryPatches] = []
  /// The present numbers. A response is not used if the account changed after its call began, and only as the first one
  /// if an entry was delivered after its call began.
  private var stamp = Stamp()

  init(_ outbox: Outbox, _ request: R, _ output: AsyncThrowingStream<R.Response, any Error>.Continuation) {
    (self.outbox, self.request, self.output) = (outbox, request, output)
    account = outbox.runner.client.presentAccount ?? ""
  }

  consuming func run() async {
    let (events, event) = AsyncStream.makeStream(of: Event.self)
    let touches = outbox.runner.watches.touches()
    let isTouched = Flag()
    do {
      // Before the first call, so that an entry that is delivered during the call is noticed.
      laidOver = try await waiting()
      let (client, request, first) = (outbox.runner.client, request, options())
      try await withThrowingDiscardingTaskGroup { group in
        group.addTask {
          for await _ in touches where isTouched.raise() { event.yield(.touched) }
          event.finish()
        }
        group.addTask {
          do throws(APIError) {
            for try await response in client.cachedThenFresh(request, options: first) {
              event.yield(.base(response.value, Stamp()))
            }
          } catch { event.yield(.failed(error, Stamp())) }
        }
        for await next in events {
          if case .touched = next { isTouched.lower() }
          if try await handle(next) {
            let (stamp, options) = (stamp, options(.ignoringCache))
            group.addTask {
              do throws(APIError) {
                event.yield(.base(try await client.send(request, options: options), stamp))
              } catch { event.yield(.failed(error, stamp)) }
            }
          }
        }
        group.cancelAll()
      }
      output.finish()
    } catch let error as OutboxError where error.code == .closed {
      output.finish()
    } catch {
      output.finish(throwing: error)
    }
  }

  /// The options of a call for the present account.
  private func options(_ cache: CacheReadMode = .asDeclared) -> CallOptions {
    var options = CallOptions(cache: cache)
    (options.requiredAccount, options.requiresAccountAlways) = (account, true)
    return options
  }

  /// Handles an event. Returns true if the request must be sent again.
  private mutating func handle(_ event: Event) async throws -> Bool {
    switch event {
    case .failed(let error, let began):
      // The account may have changed although the event of the change has not arrived yet.
      if try await update(always: false) { return true }
      if base == nil, began.accounts == stamp.accounts { throw error }
      return false
    case .base(let value, let began):
      guard began.accounts == stamp.accounts, base == nil || began.deliveries == stamp.deliveries else { return false }
      base = value
      return try await update(always: true)
    case .touched: return try await update(always: false)
    }
  }

  /// Lays the entries that wait now over the last response. The changes of delivered entries stay in it until the
  /// server's next response. Returns true if the request must be sent again.
  private mutating func update(always: Bool) async throws -> Bool {
    let present = outbox.runner.client.presentAccount ?? ""
    let now = try await waiting()
    guard present.hasSameBytes(as: account) else {
      (account, base, laidOver) = (present, nil, now)
      stamp.accounts += 1
      return true
    }
    guard base != nil else {
      laidOver += now.filter { new in !laidOver.contains { $0.id == new.id } }
      return false
    }
    let ended = laidOver.filter { old in !now.contains { $0.id == old.id } }
    guard always || !ended.isEmpty || !now.elementsEqual(laidOver, by: { $0.state.hasSameBytes(as: $1.state) }) else {
      return false
    }
    var isDelivered = false
    for old in ended where try await outbox.entry(.init(rawValue: old.id))?.state == .delivered {
      base = base.map { old.applied(to: $0, of: request) }
      isDelivered = true
    }
    laidOver = now
    if let base { output.yield(laidOver.reduce(base) { $1.applied(to: $0, of: request) }) }
    if isDelivered { stamp.deliveries += 1 }
    return isDelivered
  }

  private func waiting() async throws(OutboxError) -> [EntryPatches] {
    try await outbox.runner.perform { try $0.waitingPatches(for: R.self) }
  }
}

/// Whether an event waits to be handled, so that many events at once are handled once.
private final class Flag: Sendable {
  private let isRaised = Locked(false)

  /// Returns true if the flag was not raised.
  func raise() -> Bool {
    isRaised.withLock { isRaised in
      defer { isRaised = true }
      return !isRaised
    }
  }

  func lower() { isRaised.withLock { $0 = false } }
}

extension OutboxRunner {
  /// The patches of waiting entries of the present account that change the responses of a type of request. Must be
  /// called on the queue.
  func waitingPatches<R: APIRequest>(for target: R.Type) throws -> [EntryPatches] {
    let optimistic = types.filter { $0.value is any OptimisticRequest.Type }
    guard !optimistic.isEmpty else { return [] }
    var known: [Int64: EntryPatches] = [:]
    var found: [EntryPatches] = []
    for (id, type, state) in try store.waiting(of: client.presentAccount ?? "", types: Array(optimistic.keys)) {
      let entry =
        if let old = patches[id], old.state.hasSameBytes(as: state) { old } else {
          EntryPatches(id: id, state: state, patches: optimistic[type].map { self.patches(of: id, $0) } ?? [])
        }
      known[id] = entry
      if entry.patches.contains(where: { $0.target == ObjectIdentifier(target) }) { found.append(entry) }
    }
    patches = known
    return found
  }

  /// The patches of a stored entry; none if it cannot be read, because sending it will report that.
  private func patches(of id: Int64, _ type: any OutboxRequest.Type) -> [OutboxPatch] {
    guard let stored = try? store.stored(id), stored.isIntact, stored.facts.version <= type.outboxVersion,
      let request = try? coding.decode(type, stored, store, allowsPending: true) as? any OptimisticRequest
    else { return [] }
    return request.patches(of: .init(rawValue: id))
  }
}
