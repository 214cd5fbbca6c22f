import ErrandCore

/// What is known of a part: the file `T.part.meta` beside the target `T`.
///
/// One JSON object, its members in the order of their names but for the last one: `crc32`, eight hexadecimal digits,
/// the CRC-32 of every byte before its comma. Moments are milliseconds since 1970. At most 1 MiB.
///
/// ```
/// {"choices":{"isNamedByServer":false,"permissions":420,"replaces":true},
///  "committed":1048576,"created":1700000000000,"format":1,
///  "request":{"method":"GET","url":"https://h/a.zip","variant":"6c62272e07bb014262b821756295c58d"},
///  "total":4194304,"updated":1700000001000,"validator":{"kind":"etag","value":"\"v1\""},"crc32":"0badf00d"}
/// ```
package struct PartRecord: Sendable, Hashable {
  /// The format that is written and read. Any other one is as good as no record.
  package static let format = 1

  /// What was asked.
  package var request: RequestIdentity
  /// The version of the resource; nil where it cannot be resumed.
  package var validator: Validator?
  /// The length of the whole; nil where the server has not said.
  package var total: Int64?
  /// The content coding of the answer; nil for none. What was coded cannot be resumed.
  package var coding: String?
  /// The checksum that the caller asked for.
  package var checksum: RecordedChecksum?
  /// How the caller wants the file to be kept; nil in a record of a version that did not write it down.
  package var choices: RecordedChoices?
  /// When the part was begun.
  package var created: Int64
  /// When the record was written.
  package var updated: Int64
  /// Which bytes are in the part and on the disk.
  package var finished: ByteRanges

  /// Makes the record of a part that is still empty.
  /// - Parameter now: The present in milliseconds since 1970.
  package init(
    request: RequestIdentity, validator: Validator?, total: Int64?, coding: String? = nil,
    checksum: RecordedChecksum? = nil, choices: RecordedChoices? = nil, now: Int64
  ) {
    self.request = request
    self.validator = validator
    self.total = total
    self.coding = coding
    self.checksum = checksum
    self.choices = choices
    created = now
    updated = now
    finished = ByteRanges()
  }

  /// Makes the record of a part that begins with an answer that is the whole.
  package init(request: RequestIdentity, facts: AnswerFacts, checksum: RecordedChecksum?, now: Int64) {
    self.init(
      request: request, validator: facts.validator, total: facts.total, coding: facts.coding, checksum: checksum,
      now: now)
  }

  /// How many bytes there are from the start on.
  package var committed: Int64 { finished.prefix }

  /// Whether the rest can be asked for, if the server still has this version.
  package var isResumable: Bool {
    validator != nil && coding == nil && request.method == HTTPMethod.get.rawValue
  }
}
