package import ErrandCore

/// What to do with the response to a download request. A pure function decides this from the response headers, before
/// any byte of the body is written.
package enum ResumeDecision: Sendable, Hashable {
  /// The body continues the partial file. Write the body into the partial file at the start of the range. The body must
  /// be as long as the range. If the file is known to have more bytes after the range, commit the received bytes to
  /// disk and request the missing bytes.
  case append(Range<Int64>, total: Int64?)
  /// The body is the beginning of a new version of the file. Empty the partial file and write the body at offset 0. The
  /// body must be as long as the range. Then commit the received bytes to disk and request the missing bytes, possibly
  /// in parallel.
  case begin(Range<Int64>, ResponseProperties)
  /// The body is a complete new version of the file. Stop parallel requests for ranges of the old version. Empty the
  /// partial file and write the body at offset 0.
  case fresh(ResponseProperties)
  /// The partial file already has all bytes. Verify the partial file and rename it to the target path.
  case alreadyWhole
  /// The partial file cannot be continued. Discard it and request the whole resource.
  case startOver
  /// The response does not match the requested range. Write no byte of the body. Request the whole resource, unless
  /// this call has already started over once.
  case mismatch(ResumeMismatch)
  /// The call fails because of the status of the response. The partial file is kept for another attempt.
  case failKeepingPart
  /// The call fails because of the status of the response. The partial file is removed, because the resource is gone.
  case failDroppingPart

  /// The length of the whole file, if the response states it.
  var total: Int64? {
    switch self {
    case .append(_, let total): total
    case .begin(_, let properties), .fresh(let properties): properties.total
    case .alreadyWhole, .startOver, .mismatch, .failKeepingPart, .failDroppingPart: nil
    }
  }

  /// Decides what to do with a response.
  ///
  /// - Parameters:
  ///   - head: The headers of the final response, after all redirects.
  ///   - requested: The requested range.
  ///   - metadata: The metadata record of the partial file; nil if the partial file is empty.
  ///   - now: The current time in milliseconds since 1970.
  package static func decide(
    _ head: ResponseHead, to requested: RequestedRange, metadata: PartMetadata?, now: Int64
  ) -> ResumeDecision {
    switch head.status {
    case 200, 203: whole(ResponseProperties(of: head, now: now), requested, metadata)
    case 206: part(head, requested, metadata, now)
    case 404, 410: .failDroppingPart
    case 416: unsatisfiable(head.fields, requested, metadata)
    default: .failKeepingPart
    }
  }

  /// Decides about a complete response with status 200 or 203. Normally, the body is a new version of the file. There
  /// is one exception: the validator is unchanged but the length differs or is missing. Then the server has most likely
  /// sent only the missing rest, with status 200 instead of 206.
  private static func whole(_ properties: ResponseProperties, _ requested: RequestedRange, _ metadata: PartMetadata?)
    -> ResumeDecision
  {
    guard requested.continuesPart, let metadata, let validator = metadata.validator, properties.validator == validator,
      let old = metadata.total, properties.total != old
    else { return .fresh(properties) }
    return .mismatch(properties.total.map { .total(expected: old, found: $0) } ?? .noTotal)
  }

  private static func part(
    _ head: ResponseHead, _ requested: RequestedRange, _ metadata: PartMetadata?, _ now: Int64
  ) -> ResumeDecision {
    let start: Int64
    let end: Int64?
    let validator: Validator
    switch requested {
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
    let known = total ?? metadata?.total
    if range.lowerBound != start { return .mismatch(.place(expected: start, found: range.lowerBound)) }
    if let total, let old = metadata?.total, total != old { return .mismatch(.total(expected: old, found: total)) }
    if let limit = end ?? known, range.upperBound > limit {
      return .mismatch(.beyond(expected: limit, found: range.upperBound))
    }
    if let text = wrongLength(head.fields, range) { return .mismatch(.length(text)) }
    return known == nil ? .mismatch(.noTotal) : .append(range, total: known)
  }

  /// Decides about the 206 response to the first range of an unknown version of the file. The response must state the
  /// total length and a strong validator, because the responses to later ranges are compared with both values.
  private static func beginning(_ head: ResponseHead, _ count: Int64, _ now: Int64) -> ResumeDecision {
    if let mismatch = formMismatch(head.fields) { return .mismatch(mismatch) }
    let ranges = head.fields.values(of: "Content-Range")
    guard let text = ranges.first, ranges.count == 1 else { return .mismatch(.contentRangeCount(ranges.count)) }
    guard case .part(let range, let total) = ContentRange(text) else { return .mismatch(.contentRange(text)) }
    if range.lowerBound != 0 { return .mismatch(.place(expected: 0, found: range.lowerBound)) }
    if range.upperBound > count { return .mismatch(.beyond(expected: count, found: range.upperBound)) }
    if let text = wrongLength(head.fields, range) { return .mismatch(.length(text)) }
    guard let total, let validator = Validator(of: head.fields, now: now) else { return .mismatch(.unfit) }
    return .begin(range, ResponseProperties(validator: validator, total: total, coding: nil))
  }

  /// The reason why a 206 response is unusable regardless of its range: a content coding, or several ranges in one
  /// body. Nil if there is no such reason.
  private static func formMismatch(_ fields: HTTPFields) -> ResumeMismatch? {
    if let coding = ResponseProperties.coding(of: fields) { return .coding(coding) }
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

  /// Decides about a response with status 416 (range not satisfiable). The partial file is complete only if the server
  /// states a total length equal to the length of the partial file and to the total length in the metadata record.
  /// Otherwise the download starts over.
  private static func unsatisfiable(_ fields: HTTPFields, _ requested: RequestedRange, _ metadata: PartMetadata?)
    -> ResumeDecision
  {
    guard case .rest(let start, let validator) = requested else {
      return requested == .whole ? .failKeepingPart : .startOver
    }
    let ranges = fields.values(of: "Content-Range")
    guard let metadata, ranges.count == 1, let text = ranges.first, case .unsatisfied(let total) = ContentRange(text),
      total == start, metadata.finished.isPrefix, metadata.committed == start, metadata.total == total,
      !validator.isContradicted(by: fields)
    else { return .startOver }
    return .alreadyWhole
  }
}

/// The reason why a response does not continue the partial file. No byte of such a response is written, except in the
/// case ``excess(expected:)``.
package enum ResumeMismatch: Error, Sendable, Hashable {
  /// A response with status 206 arrived, but the request asked for no range.
  case notAsked
  /// The response has no `Content-Range` field, or several. The value is the number of fields.
  case contentRangeCount(Int)
  /// The response has no strong validator, or does not state the total length. So its range cannot be combined with
  /// ranges of other responses.
  case unfit
  /// The response has an invalid `Content-Range` field.
  case contentRange(String)
  /// The response body contains several ranges.
  case multipart
  /// The range in the response starts at another offset than the requested range.
  case place(expected: Int64, found: Int64)
  /// The range in the response ends after the expected end.
  case beyond(expected: Int64, found: Int64)
  /// The total length that the response states differs from the total length in an earlier response.
  case total(expected: Int64, found: Int64)
  /// Neither this response nor an earlier one states the total length, so the end of the file is unknown.
  case noTotal
  /// The response belongs to another version of the file.
  case version
  /// The response body has a content coding, such as gzip.
  case coding(String)
  /// The `Content-Length` field of the response differs from the length of the range in the response.
  case length(String)
  /// The response body is longer than the response headers announced.
  case excess(expected: Int64)
}

extension ResumeMismatch: CustomStringConvertible {
  /// A sentence for error messages. It gives the reason why the response does not continue the partial file.
  package var description: String { "The server's response does not continue where the partial file ends: \(clause)." }

  private var clause: String {
    switch self {
    case .notAsked: "the response is partial (206), but the whole file was requested"
    case .unfit: "the response has no strong validator or no total length, so its range cannot be combined with others"
    case .contentRangeCount(0): "the response does not state its range (no Content-Range)"
    case .contentRangeCount(let count): "the response has \(count) Content-Range fields"
    case .contentRange(let text): "the Content-Range of the response is invalid: “\(text.prefix(80))”"
    case .multipart: "the response contains several ranges (multipart/byteranges)"
    case .place(let expected, let found): "the response starts at byte \(found) instead of \(expected)"
    case .beyond(let expected, let found): "the response ends at byte \(found), after the expected end \(expected)"
    case .total(let expected, let found): "the file has \(found) bytes now, but had \(expected) before"
    case .noTotal: "the server does not state the total length of the file"
    case .version: "the response is from another version of the resource"
    case .coding(let coding): "the response has a content coding (Content-Encoding “\(coding.prefix(40))”)"
    case .excess(let expected): "the response is longer than the announced \(expected) bytes"
    case .length(let text): "the Content-Length “\(text.prefix(40))” of the response does not match its range"
    }
  }
}
