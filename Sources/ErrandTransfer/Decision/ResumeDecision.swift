package import ErrandCore

/// What to do with a response once its headers are known. A pure function decides, before any byte is written.
package enum ResumeDecision: Sendable, Hashable {
  /// Write the body at the start of the range. The body must be as long as the range. If the total length is known and
  /// the range ends before it, commit the bytes and request the rest.
  case append(Range<Int64>, total: Int64?)
  /// The body is the beginning of a new version. Empty the partial file and write the body from offset 0. The body must
  /// be as long as the range. Then commit the bytes and request the rest, possibly in parallel.
  case begin(Range<Int64>, AnswerFacts)
  /// The body is a complete new version. Empty the partial file and write the body from offset 0. Ranges requested in
  /// parallel must be given up.
  case fresh(AnswerFacts)
  /// No byte is missing. Verify the partial file and rename it to the target.
  case alreadyWhole
  /// Discard the partial file and request the whole resource.
  case startOver
  /// The response contradicts the request. Write nothing; the policy decides whether to request the whole resource.
  case mismatch(ResumeMismatch)
  /// The call fails by its status. The partial file is kept for another attempt.
  case failKeepingPart
  /// The call fails by its status. The partial file is useless, because the resource is gone.
  case failDroppingPart

  /// The length of the whole file, if the response states it.
  var total: Int64? {
    switch self {
    case .append(_, let total): total
    case .begin(_, let facts), .fresh(let facts): facts.total
    case .alreadyWhole, .startOver, .mismatch, .failKeepingPart, .failDroppingPart: nil
    }
  }

  /// Decides what to do with a response.
  ///
  /// - Parameters:
  ///   - head: The headers of the final response, after all redirects.
  ///   - ask: The requested range.
  ///   - record: The record of the partial file; nil if the file is empty.
  ///   - now: The current time in milliseconds since 1970.
  package static func decide(
    _ head: ResponseHead, to ask: RangeAsk, record: PartRecord?, now: Int64
  ) -> ResumeDecision {
    switch head.status {
    case 200, 203: whole(AnswerFacts(of: head, now: now), ask, record)
    case 206: part(head, ask, record, now)
    case 404, 410: .failDroppingPart
    case 416: unsatisfiable(head.fields, ask, record)
    default: .failKeepingPart
    }
  }

  /// Decides about a complete response. It is a new version of the file, except if the validator is unchanged and the
  /// length is not. Then the server has most likely sent only the missing rest, with status 200 instead of 206.
  private static func whole(_ facts: AnswerFacts, _ ask: RangeAsk, _ record: PartRecord?) -> ResumeDecision {
    guard ask.goesOn, let record, let validator = record.validator, facts.validator == validator,
      let old = record.total, let found = facts.total, found != old
    else { return .fresh(facts) }
    return .mismatch(.total(expected: old, found: found))
  }

  private static func part(
    _ head: ResponseHead, _ ask: RangeAsk, _ record: PartRecord?, _ now: Int64
  ) -> ResumeDecision {
    let start: Int64
    let end: Int64?
    let validator: Validator
    switch ask {
    case .whole: return .mismatch(.notAsked)
    case .first(let count): return beginning(head, count, now)
    case .rest(let place, let version): (start, end, validator) = (place, nil, version)
    case .segment(let piece, let version): (start, end, validator) = (piece.lowerBound, piece.upperBound, version)
    }
    if validator.isContradicted(by: head.fields) { return .mismatch(.version) }
    if let mismatch = formMismatch(head.fields) { return .mismatch(mismatch) }
    let ranges = head.fields.values(of: "Content-Range")
    guard let text = ranges.first, ranges.count == 1 else { return .mismatch(.contentRangeCount(ranges.count)) }
    guard case .part(let range, let total) = ContentRange(text) else { return .mismatch(.contentRange(text)) }
    let known = total ?? record?.total
    if range.lowerBound != start { return .mismatch(.place(expected: start, found: range.lowerBound)) }
    if let total, let old = record?.total, total != old { return .mismatch(.total(expected: old, found: total)) }
    if let limit = end ?? known, range.upperBound > limit {
      return .mismatch(.beyond(expected: limit, found: range.upperBound))
    }
    if let text = wrongLength(head.fields, range) { return .mismatch(.length(text)) }
    return known == nil ? .mismatch(.noTotal) : .append(range, total: known)
  }

  /// Decides about the response to the first range of an unknown version. The response must state the total length and
  /// a strong validator, because the responses to later ranges are compared with them.
  private static func beginning(_ head: ResponseHead, _ count: Int64, _ now: Int64) -> ResumeDecision {
    if let mismatch = formMismatch(head.fields) { return .mismatch(mismatch) }
    let ranges = head.fields.values(of: "Content-Range")
    guard let text = ranges.first, ranges.count == 1 else { return .mismatch(.contentRangeCount(ranges.count)) }
    guard case .part(let range, let total) = ContentRange(text) else { return .mismatch(.contentRange(text)) }
    if range.lowerBound != 0 { return .mismatch(.place(expected: 0, found: range.lowerBound)) }
    if range.upperBound > count { return .mismatch(.beyond(expected: count, found: range.upperBound)) }
    if let text = wrongLength(head.fields, range) { return .mismatch(.length(text)) }
    guard let total, let validator = Validator(of: head.fields, now: now) else { return .mismatch(.unfit) }
    return .begin(range, AnswerFacts(validator: validator, total: total, coding: nil))
  }

  /// Why a 206 response is unusable whatever its range is: it has a content coding or several ranges. Nil if it has
  /// neither.
  private static func formMismatch(_ fields: HTTPFields) -> ResumeMismatch? {
    if let coding = AnswerFacts.coding(of: fields) { return .coding(coding) }
    let isMultipart = fields.values(of: .contentType).contains { value in
      value.split(separator: ";").first?.filter { $0 != " " && $0 != "\t" }.lowercased() == "multipart/byteranges"
    }
    return isMultipart ? .multipart : nil
  }

  private static func wrongLength(_ fields: HTTPFields, _ range: Range<Int64>) -> String? {
    fields.values(of: .contentLength).first {
      DecimalNumber.read($0.utf8) != range.upperBound - range.lowerBound
    }
  }

  /// Decides about status 416 (range not satisfiable). The partial file is complete only if the server states a total
  /// length equal to the length of the partial file and to the total in its record. Otherwise the download starts over.
  private static func unsatisfiable(_ fields: HTTPFields, _ ask: RangeAsk, _ record: PartRecord?) -> ResumeDecision {
    guard case .rest(let start, let validator) = ask else { return ask == .whole ? .failKeepingPart : .startOver }
    let ranges = fields.values(of: "Content-Range")
    guard let record, ranges.count == 1, let text = ranges.first, case .unsatisfied(let total) = ContentRange(text),
      total == start, record.finished.isPrefix, record.committed == start, record.total == total,
      !validator.isContradicted(by: fields)
    else { return .startOver }
    return .alreadyWhole
  }
}
