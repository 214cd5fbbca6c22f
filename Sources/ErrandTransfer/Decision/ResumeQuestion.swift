import ErrandCore
import ErrandSupport

/// The decision whether a partial file can be resumed, and which range to request. It depends only on the arguments of
/// the initializer.
package struct ResumeQuestion: Sendable, Hashable {
  /// The reasons why a partial file cannot be resumed.
  package enum Obstacle: Sendable, Hashable {
    /// The partial file has no metadata record.
    case noMetadata
    /// The partial file has no bytes yet.
    case empty
    /// The response that started the partial file had no strong validator, or `Accept-Ranges: none`.
    case noValidator
    /// The response that started the partial file had a content coding.
    case coded
    /// The request has another method than GET, so it cannot be resumed.
    case method
    /// The partial file belongs to a download of another URL.
    case otherURL
    /// The partial file belongs to a request with other fields, or to another account.
    case otherRequest
    /// The caller requires another checksum than the checksum in the metadata record of the partial file.
    case otherChecksum

    /// The obstacle as a part of a sentence, for the record of the call.
    var clause: String {
      switch self {
      case .noMetadata: "there is no partial file with a record"
      case .empty: "the partial file is empty"
      case .noValidator: "the server sent no strong validator, or supports no ranges"
      case .coded: "the response had a content coding"
      case .method: "only GET requests can be resumed"
      case .otherURL: "the partial file belongs to another URL"
      case .otherRequest: "the partial file belongs to another request or account"
      case .otherChecksum: "the partial file was begun with another checksum"
      }
    }
  }

  /// The range of the file that the download must request.
  package let requested: RequestedRange
  /// Why the whole file is requested; nil if the partial file is resumed.
  package let obstacle: Obstacle?

  /// Whether the partial file belongs to another request, so that its metadata record must be ignored.
  package var isOfAnother: Bool {
    switch obstacle {
    case .method, .otherURL, .otherRequest, .otherChecksum: true
    case .noMetadata, .empty, .noValidator, .coded, nil: false
    }
  }

  /// Decides what to request.
  ///
  /// - Parameters:
  ///   - metadata: The metadata record of the partial file; nil if there is none.
  ///   - request: The identity of the present request.
  ///   - checksum: The checksum that the caller requires now. A partial file whose record contains a different checksum
  ///     is not resumed.
  package init(_ metadata: PartMetadata?, request: RequestIdentity, checksum: RecordedChecksum?) {
    if let metadata, let validator = metadata.validator, Self.obstacle(metadata, request, checksum) == nil {
      requested = .rest(from: metadata.committed, validator)
      obstacle = nil
    } else {
      requested = .whole
      obstacle = Self.obstacle(metadata, request, checksum) ?? .noValidator
    }
  }

  private static func obstacle(
    _ metadata: PartMetadata?, _ request: RequestIdentity, _ checksum: RecordedChecksum?
  ) -> Obstacle? {
    guard let metadata else { return .noMetadata }
    if request.method != HTTPMethod.get.rawValue || metadata.request.method != request.method { return .method }
    if !metadata.request.isSame(exceptURL: request) { return .otherRequest }
    if !metadata.request.url.hasSameBytes(as: request.url) { return .otherURL }
    if let old = metadata.checksum, let checksum, old != checksum { return .otherChecksum }
    if metadata.coding != nil { return .coded }
    if metadata.validator == nil { return .noValidator }
    return metadata.finished.count == 0 ? .empty : nil
  }
}
