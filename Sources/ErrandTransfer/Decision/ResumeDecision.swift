package import ErrandCore

/// What to do with an answer, once its head has come. A function of values; nothing is written before it is decided.
package enum ResumeDecision: Sendable, Hashable {
  /// Write the body at the place where the range begins; it must be as long as the range. Where the total is known and
  /// the range ends before it, commit and ask for the rest.
  case append(Range<Int64>, total: Int64?)
  /// The body is the beginning of a new whole: start the part over, write it from 0; it must be as long as the range.
  /// Then commit and ask for the rest, which may be done side by side.
  case begin(Range<Int64>, AnswerFacts)
  /// The body is a new whole: start the part over, and write it from 0. Pieces asked for side by side are to be given
  /// up.
  case fresh(AnswerFacts)
  /// There is nothing left to fetch: check the part, and give it its name.
  case alreadyWhole
  /// Drop the part and ask once more, for the whole.
  case startOver
  /// The answer lies. Write nothing; the policy says whether to ask once more, for the whole.
  case mismatch(ResumeMismatch)
  /// The call fails by its status, and the part stays for another try.
  case failKeepingPart
  /// The call fails by its status, and there is nothing to go on with: the resource is gone.
  case failDroppingPart

  /// The length of the whole, where the answer tells it.
  var total: Int64? {
    switch self {
    case .append(_, let total): total
    case .begin(_, let facts), .fresh(let facts): facts.total
    case .alreadyWhole, .startOver, .mismatch, .failKeepingPart, .failDroppingPart: nil
    }
  }

  /// Decides.
  ///
  /// - Parameters:
  ///   - head: The head of the last answer, redirects followed.
  ///   - ask: What was asked for.
  ///   - record: What is known of the part; nil where it is empty.
  ///   - now: The present in milliseconds since 1970.
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

  /// A whole of the same version and another length is none: most likely it is the rest under a wrong status.
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

  /// The first piece of a version that is not known yet: it must name all that the others are held against.
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

  /// What must hold whatever the range is.
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

  /// The end only where the server names the length that we have and that the whole had from the beginning.
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
