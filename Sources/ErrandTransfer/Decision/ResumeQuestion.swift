import ErrandCore

/// Decides whether a partial file can be resumed and which range to request. A pure function.
package struct ResumeQuestion: Sendable, Hashable {
  /// Why a partial file cannot be resumed.
  package enum Obstacle: Sendable, Hashable {
    /// The partial file has no record.
    case noRecord
    /// The partial file has no bytes yet.
    case empty
    /// The response that started the partial file had no strong validator.
    case noValidator
    /// The response that started the partial file had a content coding.
    case coded
    /// The method is not GET.
    case method
    /// The partial file belongs to another URL.
    case otherURL
    /// The partial file belongs to a request with other fields, or to another account.
    case otherRequest
    /// The caller now requires another checksum than the record contains.
    case otherChecksum
  }

  /// The range to request.
  package let ask: RangeAsk
  /// Why the whole file is requested; nil if the partial file is resumed.
  package let obstacle: Obstacle?

  /// Whether the partial file belongs to another request, so that its record must be ignored.
  package var isOfAnother: Bool {
    switch obstacle {
    case .method, .otherURL, .otherRequest, .otherChecksum: true
    case .noRecord, .empty, .noValidator, .coded, nil: false
    }
  }

  /// Decides what to request.
  ///
  /// - Parameters:
  ///   - record: The record of the partial file; nil if there is none.
  ///   - request: The identity of the present request.
  ///   - checksum: The checksum that the caller requires now. A file whose record contains a different checksum is not
  ///     resumed.
  package init(_ record: PartRecord?, request: RequestIdentity, checksum: RecordedChecksum?) {
    if let record, let validator = record.validator, Self.obstacle(record, request, checksum) == nil {
      ask = .rest(from: record.committed, validator)
      obstacle = nil
    } else {
      ask = .whole
      obstacle = Self.obstacle(record, request, checksum) ?? .noValidator
    }
  }

  private static func obstacle(
    _ record: PartRecord?, _ request: RequestIdentity, _ checksum: RecordedChecksum?
  ) -> Obstacle? {
    guard let record else { return .noRecord }
    if request.method != HTTPMethod.get.rawValue || record.request.method != request.method { return .method }
    if !record.request.isSame(exceptURL: request) { return .otherRequest }
    if record.request.url != request.url { return .otherURL }
    if let old = record.checksum, let checksum, old != checksum { return .otherChecksum }
    if record.coding != nil { return .coded }
    if record.validator == nil { return .noValidator }
    return record.finished.count == 0 ? .empty : nil
  }
}
