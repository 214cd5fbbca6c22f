import ErrandCore

/// Whether a part may be gone on with, and what is asked for then. A function of values.
package struct ResumeQuestion: Sendable, Hashable {
  /// Why a part is not gone on with.
  package enum Obstacle: Sendable, Hashable {
    /// There is no record.
    case noRecord
    /// There is no byte yet.
    case empty
    /// The answer had no strong validator.
    case noValidator
    /// The answer was coded.
    case coded
    /// It is not a GET.
    case method
    /// It was asked with another URL.
    case otherURL
    /// It was asked with other fields or by another account.
    case otherRequest
    /// The caller asks for another checksum now.
    case otherChecksum
  }

  /// What to ask for.
  package let ask: RangeAsk
  /// Why it is the whole; nil where it is not.
  package let obstacle: Obstacle?

  /// Whether the part belongs to something else than what is asked for: nothing that is known of it counts.
  package var isOfAnother: Bool {
    switch obstacle {
    case .method, .otherURL, .otherRequest, .otherChecksum: true
    case .noRecord, .empty, .noValidator, .coded, nil: false
    }
  }

  /// Decides.
  ///
  /// - Parameters:
  ///   - record: What is known of the part.
  ///   - request: What is asked for now.
  ///   - checksum: The checksum that is asked for now. The recorded one must be the same or missing.
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
