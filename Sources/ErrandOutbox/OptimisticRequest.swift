public import ErrandCore
import ErrandSupport

/// A request of an ``Outbox`` that declares how it will change values, so that the app can show the change before the
/// server has carried it out.
///
/// ```swift
/// extension Rename: OptimisticRequest {
///   func patches(of object: OutboxReference) -> [OutboxPatch] {
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
/// parked, cancelled or expires, its patches no longer apply. If the server may have carried out such an entry, the
/// sequences of ``Outbox/values(of:)`` send their requests again.
///
/// If an entry is delivered, its patches still apply to stored responses that were requested before the delivery. For
/// this, the outbox keeps the stored requests of the latest 1,000 such entries of each account for one day, or for
/// ``OutboxConfiguration/history`` if that is shorter. While it is open, it removes older requests once an hour, and
/// surplus ones by the hundred. ``Outbox/prepareLogout(of:_:)`` removes those of the account.
public protocol OptimisticRequest: OutboxRequest {
  /// How the request changes values. Patches must be repeatable, such as an assignment, or an addition to a list that
  /// does not contain the object: a value may contain the change already, if the server has carried out the request and
  /// the outbox does not know yet. The function is called again when the entry is delivered; a file of the request
  /// (``OutboxFile``) no longer exists then.
  ///
  /// - Parameter object: The object that the request creates, if it creates one. Its `description` is a temporary
  ///   identifier until the server has assigned one, and then the server's identifier. References of other requests to
  ///   the object have the same text.
  func patches(of object: OutboxReference) -> [OutboxPatch]
}

/// A change of the responses of one type of request: see ``OptimisticRequest``.
public struct OutboxPatch: Sendable {
  /// The type of request whose responses the patch changes.
  let target: ObjectIdentifier
  private let change: any AnyObject & Sendable

  /// A class, because its type is checked faster than that of a closure.
  private final class Change<R: APIRequest>: Sendable {
    let apply: @Sendable (inout R.Response, R) -> Void
    init(_ apply: @escaping @Sendable (inout R.Response, R) -> Void) { self.apply = apply }
  }

  /// Changes the responses of a type of request. The closure receives the response and its request, and is called on
  /// any thread, often: for each new value of a sequence, once for each entry that waits or was delivered lately.
  public static func changing<R: APIRequest>(
    _ type: R.Type, _ change: @escaping @Sendable (inout R.Response, R) -> Void
  ) -> OutboxPatch {
    OutboxPatch(target: ObjectIdentifier(type), change: Change<R>(change))
  }

  func apply<R: APIRequest>(to value: inout R.Response, of request: R) {
    (change as? Change<R>)?.apply(&value, request)
  }
}

extension Outbox {
  /// Sends a request that reads a value, and lays the changes of waiting entries over its response. If the response was
  /// requested before the delivery of an entry, for example because it comes from the cache, lays the change of that
  /// entry over it, too. The value and the changes belong to the account that is logged in now, also if another account
  /// logs in during the call.
  /// - Throws: ``ErrandCore/APIError`` if the call fails, ``OutboxError`` if the entries cannot be read.
  public func value<R: APIRequest>(of request: R, options: CallOptions = CallOptions()) async throws -> R.Response {
    var patches = PatchFollower<R>()
    try await patches.follow(runner)
    let before = patches
    var options = options
    // The server may have read the value for an earlier exchange before a delivery.
    options.joining = .never
    (options.requiredAccount, options.requiresAccountAlways) = (before.account, true)
    let response = try await runner.client.response(request, options: options)
    try await patches.follow(runner)
    var value = response.value
    let moment = ResponseMoment(response, after: before.delivered)
    if patches.account.hasSameBytes(as: before.account) {
      let forgotten = patches.takeForgotten()
      patches.lay(forgotten[...], over: &value, of: request, moment)
    } else {
      // The changes of another account are not used.
      patches = before
    }
    patches.lay(over: &value, of: request, moment)
    return value
  }

  /// Lays the changes of waiting entries over a value that the app has received in another way, for example from a
  /// stream of events. The changes of delivered entries are not used, because the value may be newer.
  public func patched<R: APIRequest>(
    _ value: R.Response, of request: R
  ) async throws(OutboxError) -> R.Response {
    var (value, patches) = (value, PatchFollower<R>())
    try await patches.follow(runner)
    patches.lay(over: &value, of: request, .live(after: patches.delivered))
    return value
  }

  /// The values of a request that reads, with the changes of waiting entries laid over them: the stored response if
  /// there is one, then the response of the server, then another value each time that a waiting change begins or ends.
  ///
  /// After the delivery of an entry, its change stays in the sequence, and the request is sent again for the value that
  /// the server has made of it, also if only the response of the entry could not be read. The change is also laid over
  /// a stored response that was requested before the delivery, in a sequence that begins later. The request is also
  /// sent again if another account logs in. A value that is not read in time is replaced by the next one. The sequence
  /// keeps the outbox, and ends when the outbox is closed. It throws ``ErrandCore/APIError`` if there is no stored
  /// response and the first call of an account fails. If a later call fails, the last known value stays.
  ///
  /// The sequence does not report that later failure, nor whether a value comes from the cache. To show that the device
  /// is offline, use ``value(of:options:)``, which throws each failure, and the reason of each of the entries.
  public func values<R: APIRequest>(of request: R) -> AsyncThrowingStream<R.Response, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task { await PatchedValues(self, request, continuation).run() }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}
