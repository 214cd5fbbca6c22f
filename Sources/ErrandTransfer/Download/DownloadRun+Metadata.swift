package import ErrandCore
import ErrandSupport

/// Maintains the metadata record of the partial file, and commits it together with the bytes.
extension DownloadRun {
  var metadata: PartMetadata? { state.withLock { $0.metadata } }
  var fetched: Int64 { state.withLock { $0.fetched } }

  /// Decides what to do with a response. The requested range was computed from the metadata record of the committed
  /// bytes, so the decision uses the same record.
  func decide(_ head: ResponseHead, to requested: RequestedRange) -> ResumeDecision {
    ResumeDecision.decide(head, to: requested, metadata: metadata, now: now())
  }

  /// Stores the total length that a response states, if no total length was known before.
  func learn(total: Int64?) {
    state.withLock { state in
      if state.metadata?.total == nil { state.metadata?.total = total }
    }
  }

  /// Called when the server sends a new version of the file. Discards the file name and the digests that the server has
  /// stated for the former version. The metadata record stays that of the former version until ``begin(_:)``.
  func forgetVersion() {
    state.withLock {
      $0.stated = []
      $0.named = nil
    }
  }

  func emptyMetadata(_ properties: ResponseProperties) -> PartMetadata {
    PartMetadata(
      request: identity, validator: properties.validator, total: properties.total, coding: properties.coding,
      checksum: download.checksum?.recorded, choices: RecordedChoices(download), now: now())
  }

  /// Throws if the file has, or will have, more bytes than `maximumBytes` allows. In this case the partial file is
  /// removed when it is closed.
  func checkSize(_ bytes: @autoclosure () -> Int64?) throws {
    guard let most = download.maximumBytes, let bytes = bytes(), bytes > most else { return }
    state.withLock { $0.isWrong = true }
    throw APIError(
      .transfer, .tooLarge,
      "The file has more than the \(most) bytes that `maximumBytes` allows; the partial file was deleted.")
  }

  /// Stores the file name and the digests that response headers contain. They are used even if the response body is
  /// interrupted later.
  func noteWhole(by head: ResponseHead) {
    noteName(in: head.fields)
    noteDigest(in: head.fields, of: head)
  }

  /// Stores the digest of the whole file from header or trailer fields.
  func noteDigest(in fields: HTTPFields, of head: ResponseHead) {
    // The file is stored decoded, but a `Repr-Digest` covers the coded representation (RFC 9530 section 3).
    guard ResponseProperties.coding(of: head.fields) == nil else { return }
    let stated = DigestFields(fields, known: download.digests).representation
    if let stated { state.withLock { $0.stated.append(stated) } }
  }

  /// The `Content-Digest` of a response, from its header or trailer fields (RFC 9530 section 2).
  func contentDigest(of response: HTTPResponse) -> Checksum? {
    [response.fields, response.trailers].lazy.compactMap {
      DigestFields($0, known: self.download.digests).content
    }.first
  }

  /// Stores the file name from response headers. Only the first name is kept, because a server need not repeat the name
  /// in each response. The next commit writes the name into the metadata record, so that a later call knows it.
  func noteName(in fields: HTTPFields) {
    guard let name = download.target(saidBy: fields) else { return }
    state.withLock { if $0.named == nil { $0.named = name } }
  }

  // MARK: - On the disk queue

  /// Empties the partial file, because the bytes of a new version of the file follow. Then creates the metadata record
  /// of this version. If the partial file cannot be emptied, the former record stays, because it belongs to the bytes.
  func begin(_ properties: ResponseProperties) throws {
    let metadata = emptyMetadata(properties)
    try digests.startOver()
    if part.metadata != nil || part.written.end > 0 { try part.startOver(metadata) }
    state.withLock { $0.metadata = metadata }
  }

  /// Reserves disk space for the whole file, if its length is known and at least ``CommitLimit/worthReserving``.
  func reserve(_ total: Int64?) throws {
    if let total, total >= CommitLimit.worthReserving { try part.reserve(total) }
  }

  /// Whether disk space was reserved for the partial file, but no metadata record of the partial file is on the disk
  /// yet.
  func isUnlisted(_ total: Int64?) -> Bool {
    part.metadata == nil && total.map { $0 >= CommitLimit.worthReserving } ?? false
  }

  /// Commits the written bytes and their metadata record to disk.
  func commit() throws {
    guard var metadata else { return }
    metadata.updated = now()
    metadata.name = state.withLock { $0.named }.map(PartNames.lastComponent)
    try part.commit(metadata)
    state.withLock { $0.metadata?.finished = part.committed }
    try digests.catchUp(with: part) { context.call.isRunning }
  }

  /// Closes the partial file. Before that, removes the partial file if it is empty, useless, or without a metadata
  /// record on the disk, for example because the disk is full. A useless partial file is kept if this call has no
  /// metadata record for it, because the partial file may belong to another request.
  func leave() {
    let isUseless = part.metadata == nil || !part.isOwn || state.withLock { $0.isWrong && $0.metadata != nil }
    if part.written.end == 0 || isUseless { try? part.abandon() }
    part.close()
  }

  /// Called when an operation on the partial file has failed. Keeps as many received bytes as possible. If a write
  /// failed because the disk is full, the bytes of all earlier writes are committed. If this commit fails, or if the
  /// failure has another reason, only the bytes of the last successful commit are kept.
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

  /// Commits the received bytes if the partial file can be resumed later. Otherwise, empties the partial file.
  func keep() throws {
    guard let metadata else { return }
    if metadata.isResumable, part.written.end > 0 { try commit() } else { try part.startOver(metadata) }
  }
}

extension Checksum {
  /// The checksum in the form that the metadata record stores.
  package var recorded: RecordedChecksum {
    RecordedChecksum(algorithm: algorithm.name, hex: hex)
  }
}
