import ErrandCore
import ErrandSupport

/// What is known of the resource, and how it is brought to the disk beside the bytes.
extension DownloadRun {
  var record: PartRecord? { state.withLock { $0.record } }
  var fetched: Int64 { state.withLock { $0.fetched } }

  /// Decides on an answer; by the bytes that are on the disk, which is what was asked for.
  func decide(_ head: ResponseHead, to ask: RangeAsk) -> ResumeDecision {
    ResumeDecision.decide(head, to: ask, record: record, now: now())
  }

  /// The total became known by a later answer.
  func learn(total: Int64?) {
    state.withLock { state in
      if state.record?.total == nil { state.record?.total = total }
    }
  }

  /// A new whole begins; returns its record.
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

  /// Throws where the file has, or will have, more bytes than it may. The part goes when it is let go.
  func checkSize(_ bytes: @autoclosure () -> Int64?) throws {
    guard let most = download.maximumBytes, let bytes = bytes(), bytes > most else { return }
    state.withLock { $0.isWrong = true }
    throw APIError(
      .transfer, APIError.Code(rawValue: TransportFailure.Kind.tooLarge.rawValue),
      "The file has more than the \(most) bytes that `maximumBytes` of the download allows; the part was deleted.")
  }

  /// What a head says of the whole, its name and what it hashes to: also that of an answer which breaks off.
  func noteWhole(by head: ResponseHead) {
    noteName(in: head.fields)
    noteDigest(in: head.fields, of: head)
  }

  /// What header or trailer fields say that the whole hashes to.
  func noteDigest(in fields: HTTPFields, of head: ResponseHead) {
    // The file is hashed as it lies on the disk, decoded (RFC 9530 section 3).
    guard AnswerFacts.coding(of: head.fields) == nil else { return }
    let stated = DigestFields(fields, known: download.digests).representation.checksum
    if let stated { state.withLock { $0.stated.append(stated) } }
  }

  /// What an answer says that its own bytes hash to, in front of them or behind (RFC 9530 section 2).
  func contentDigest(of response: HTTPResponse) -> Checksum? {
    [response.fields, response.trailers].lazy.compactMap {
      DigestFields($0, known: self.download.digests).content.checksum
    }.first
  }

  /// The first name counts: a server need not repeat it with each part.
  func noteName(in fields: HTTPFields) {
    guard let name = download.target(saidBy: fields) else { return }
    state.withLock { if $0.named == nil { $0.named = name } }
  }

  // MARK: - On the disk lane

  /// Empties the part for a new whole.
  func empty(_ record: PartRecord) throws {
    try digests.startOver()
    if part.record != nil || part.written.end > 0 { try part.startOver(record) }
  }

  /// Sets room aside for the whole, where its length is known and worth it.
  func reserve(_ total: Int64?) throws {
    if let total, total >= CommitRule.worthReserving { try part.reserve(total) }
  }

  /// Whether room was set aside for a part that no record tells of yet.
  func isUnlisted(_ total: Int64?) -> Bool {
    part.record == nil && total.map { $0 >= CommitRule.worthReserving } ?? false
  }

  /// Brings what was written to the disk, with a record of it.
  func commit() throws {
    guard var record else { return }
    record.updated = now()
    try part.commit(record)
    state.withLock { $0.record?.finished = part.committed }
    try digests.catchUp(with: part) { context.call.isRunning }
  }

  /// Lets the part go; one without bytes, or with useless ones, is removed. Without a record, what is there is
  /// another's.
  func leave() {
    if part.written.end == 0 || state.withLock({ $0.isWrong && $0.record != nil }) { try? part.abandon() }
    part.close()
  }

  /// The part takes nothing more. What came before the disk was full is kept, if the record of it finds room; else what
  /// was kept before.
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

  /// Keeps what can be gone on with; removes what cannot.
  func keep() throws {
    guard let record else { return }
    if record.isResumable, part.written.end > 0 { try commit() } else { try part.startOver(record) }
  }
}

extension Checksum {
  /// The checksum as it stands in the record.
  var recorded: RecordedChecksum {
    RecordedChecksum(algorithm: algorithm.name, hex: hex)
  }
}
