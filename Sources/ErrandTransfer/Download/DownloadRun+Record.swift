import ErrandCore
import ErrandSupport

/// The record of the partial file, and how it is committed together with the bytes.
extension DownloadRun {
  var record: PartRecord? { state.withLock { $0.record } }
  var fetched: Int64 { state.withLock { $0.fetched } }

  /// Decides what to do with a response. Uses the record of the committed bytes, because the requested range was
  /// computed from it.
  func decide(_ head: ResponseHead, to ask: RangeAsk) -> ResumeDecision {
    ResumeDecision.decide(head, to: ask, record: record, now: now())
  }

  /// Stores the total length that a response states, if it was not known before.
  func learn(total: Int64?) {
    state.withLock { state in
      if state.record?.total == nil { state.record?.total = total }
    }
  }

  /// Called when the server sends a new version of the file. Makes its record and returns it.
  func begin(_ facts: AnswerFacts) -> PartRecord {
    let record = emptyRecord(facts)
    state.withLock {
      $0.record = record
      $0.stated = []
      $0.named = nil
    }
    return record
  }

  func emptyRecord(_ facts: AnswerFacts) -> PartRecord {
    PartRecord(
      request: identity, validator: facts.validator, total: facts.total, coding: facts.coding,
      checksum: download.checksum?.recorded, choices: RecordedChoices(download), now: now())
  }

  /// Throws if the file has, or will have, more bytes than allowed. The partial file is then removed when it is closed.
  func checkSize(_ bytes: @autoclosure () -> Int64?) throws {
    guard let most = download.maximumBytes, let bytes = bytes(), bytes > most else { return }
    state.withLock { $0.isWrong = true }
    throw APIError(
      .transfer, APIError.Code(rawValue: TransportFailure.Kind.tooLarge.rawValue),
      "The file has more than the \(most) bytes that `maximumBytes` allows; the partial file was deleted.")
  }

  /// Stores the file name and the digests from response headers. They are used even if the body breaks off later.
  func noteWhole(by head: ResponseHead) {
    noteName(in: head.fields)
    noteDigest(in: head.fields, of: head)
  }

  /// Stores the digest of the whole file from header or trailer fields.
  func noteDigest(in fields: HTTPFields, of head: ResponseHead) {
    // The file is stored decoded, but this digest covers the coded representation (RFC 9530 section 3).
    guard AnswerFacts.coding(of: head.fields) == nil else { return }
    let stated = DigestFields(fields, known: download.digests).representation.checksum
    if let stated { state.withLock { $0.stated.append(stated) } }
  }

  /// The digest of a response's own content, from its header or trailer fields (RFC 9530 section 2).
  func contentDigest(of response: HTTPResponse) -> Checksum? {
    [response.fields, response.trailers].lazy.compactMap {
      DigestFields($0, known: self.download.digests).content.checksum
    }.first
  }

  /// Stores the file name from response headers. Only the first name is kept; a server need not repeat it in each
  /// response.
  func noteName(in fields: HTTPFields) {
    guard let name = download.target(saidBy: fields) else { return }
    state.withLock { if $0.named == nil { $0.named = name } }
  }

  // MARK: - On the disk queue

  /// Empties the partial file for a new version.
  func empty(_ record: PartRecord) throws {
    try digests.startOver()
    if part.record != nil || part.written.end > 0 { try part.startOver(record) }
  }

  /// Reserves disk space for the whole file, if its length is known and large enough.
  func reserve(_ total: Int64?) throws {
    if let total, total >= CommitRule.worthReserving { try part.reserve(total) }
  }

  /// Whether space was reserved for a partial file that has no record yet.
  func isUnlisted(_ total: Int64?) -> Bool {
    part.record == nil && total.map { $0 >= CommitRule.worthReserving } ?? false
  }

  /// Commits the written bytes and their record to disk.
  func commit() throws {
    guard var record else { return }
    record.updated = now()
    try part.commit(record)
    state.withLock { $0.record?.finished = part.committed }
    try digests.catchUp(with: part) { context.call.isRunning }
  }

  /// Closes the partial file. Removes it first if it is empty or useless. A useless partial file is kept if this run
  /// has no record of it, because it then belongs to another request.
  func leave() {
    if part.written.end == 0 || state.withLock({ $0.isWrong && $0.record != nil }) { try? part.abandon() }
    part.close()
  }

  /// Keeps as many bytes as possible after the partial file has failed. If the disk is full, these are all bytes
  /// written before, provided that their record still fits on the disk. Otherwise these are the bytes of the last
  /// commit.
  func stop(after failure: any Error) throws {
    if let failure = failure as? FileFailure, failure.operation == .write, failure.kind == .full,
      (try? keepBehindCut()) != nil
    {
      return
    }
    try part.rollBack()
  }

  private func keepBehindCut() throws {
    try part.cutTorn()
    try keep()
  }

  /// Commits the partial file if it can be resumed; empties it if not.
  func keep() throws {
    guard let record else { return }
    if record.isResumable, part.written.end > 0 { try commit() } else { try part.startOver(record) }
  }
}

extension Checksum {
  /// The checksum as stored in the record.
  var recorded: RecordedChecksum {
    RecordedChecksum(algorithm: algorithm.name, hex: hex)
  }
}
