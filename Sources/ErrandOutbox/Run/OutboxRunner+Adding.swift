import ErrandCache
import ErrandCore
import ErrandSupport
import Foundation

// What happens when a request is added or changed.
extension OutboxRunner {
  func check<R: OutboxRequest>(_ request: R) throws(OutboxError) {
    guard let known = types[R.outboxType], known == R.self else {
      throw OutboxError(
        .unregistered, "\(R.self) is not in the list of the outbox; pass it in `requests` when you open the outbox.")
    }
    do { try request.check() } catch {
      throw OutboxError(.parameter, "A parameter of \(R.self) is wrong: \(AppErrorText.of(error))")
    }
  }

  /// Stores a request for an account, if this account is still logged in. A request that was added while no account was
  /// logged in is always stored.
  func add<R: OutboxRequest>(
    _ type: R.Type, _ encoded: EncodedRequest, _ rule: OutboxRule, account: String, window: Int64?
  ) throws -> EntryFacts {
    point(.adding)
    let key = UUID().uuidString.lowercased()
    let added = try commit { now in
      // The account may have logged out while the files of the request were taken, and discarded its entries before.
      guard account.isEmpty || (client.presentAccount ?? "").hasSameBytes(as: account) else {
        throw OutboxError(
          .account, "\(R.self) was not stored, because its account was logged out or switched meanwhile; add it again.")
      }
      var facts = EntryFacts(
        id: 0, type: R.outboxType, version: encoded.version, account: account, lane: rule.lane(key: key), key: key,
        isSealed: encoded.isSealed, added: now, notBefore: now)
      facts.expires = rule.expiry.milliseconds.map { now.advanced(byMilliseconds: $0) }
      facts.window = window
      facts.attemptLimit = rule.attemptLimit
      facts.stopsLane = rule.stopsLane
      let new = NewEntry(
        facts: facts, request: encoded.data, supersedes: rule.supersedesQueued, cancels: rule.cancelledTypes,
        parents: encoded.parents, files: encoded.files)
      return try store.add(new, at: now)
    }
    point(.added)
    publish(added.others + [added.facts])
    if needsPass(added) { request() }
    return added.facts
  }

  /// Whether a new entry changes what happens next: it may be sent now, or expires before the next pass. If the next
  /// pass is late, because the timer stood still while the device slept, the entry causes it.
  private func needsPass(_ added: OutboxStore.Added) -> Bool {
    guard let nextPass, nextPass > now(), added.others.isEmpty,
      added.facts.account.hasSameBytes(as: decidedAccount)
    else { return true }
    return added.isHead && !isPaused || added.facts.expires.map { $0 < nextPass } ?? false
  }

  /// The facts of an entry. Another process may have changed them, so the receipts of the entry get them, too.
  func facts(of id: OutboxEntry.ID, type: String? = nil) throws -> EntryFacts {
    guard let facts = try store.facts(of: id.rawValue) else {
      throw OutboxError(.noEntry, "There is no entry \(id); entries that ended long ago are removed.")
    }
    watches.refresh(facts)
    guard type == nil || type == facts.type else {
      throw OutboxError(.noEntry, "Entry \(id) has the type \(facts.type); pass that type.")
    }
    return facts
  }

  // MARK: - Files

  /// Takes the files of a request into the folder, then runs a job that stores the request. If the job fails, the files
  /// are removed again.
  func withFiles<Value: Sendable>(
    of request: EncodedRequest, _ job: @escaping @Sendable (OutboxRunner) throws -> Value
  ) async throws(OutboxError) -> Value {
    if request.newFiles.isEmpty { return try await perform(job) }
    try await take(request.newFiles)
    do { return try await perform(job) } catch {
      folder.files.remove(request.newFiles.keys)
      throw error
    }
  }

  /// Takes files of the app into the folder, on a thread for blocking work: a copy of a large file takes long.
  func take(_ files: [String: URL]) async throws(OutboxError) {
    if files.isEmpty { return }
    let attached = folder.files
    let result: Result<Void, OutboxError> = await withUnsafeContinuation { continuation in
      DispatchQueue.global().async {
        var failure: OutboxError?
        for (name, url) in files where failure == nil {
          do throws(OutboxError) { try attached.take(url, as: name) } catch { failure = error }
        }
        if failure != nil { attached.remove(files.keys) }
        continuation.resume(returning: failure.map { .failure($0) } ?? .success(()))
      }
    }
    try result.get()
  }
}
