import ErrandCore
import Foundation

/// What is known of a transfer in the background: one JSON object in a file of the folder, named `<id>` and its kind.
/// Neither URL nor fields of the request stand in it, for they may hold secrets.
protocol BackgroundRecord: Sendable, Codable {
  /// What it is a record of.
  static var kind: BackgroundKind { get }
  /// The format that is written and read. Any other one is as good as no record.
  static var currentFormat: Int { get }

  var format: Int { get }
  var id: String { get }
  var tag: String? { get }
  /// The status codes that are taken.
  var statusRule: StatusRule { get }
  var contentTypes: [String]? { get }
  /// Whether the answer must have come by https.
  var isSecure: Bool { get }
  var phase: BackgroundPhase { get set }
}

extension BackgroundRecord {
  /// The bytes of the file.
  func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Reads the bytes of a file; nil for what is no record of this format.
  static func read(_ bytes: Data) -> Self? {
    guard let record = try? JSONDecoder().decode(Self.self, from: bytes), record.format == currentFormat else {
      return nil
    }
    return record
  }

  /// Scheme, status and content type: in this order, so that an error page is told as what it is.
  func judge(_ response: HTTPResponse) throws(APIError) {
    if isSecure, response.url.scheme != .https {
      throw APIError(
        .redirect, .redirectRefused, "The system followed a redirect from https to http; what came was deleted.")
    }
    try Validating.checkStatus(of: response, by: statusRule)
    try Validating.checkContentType(of: response, among: contentTypes)
  }
}

extension StatusRule {
  /// The codes as they stand in a record: pairs of first and last.
  var recorded: [[Int]] { ranges.map { [$0.lowerBound, $0.upperBound] } }

  /// The codes of a record, but for pairs that cannot be.
  init(recorded pairs: [[Int]]) {
    self.init(
      ranges: pairs.compactMap { pair in
        guard pair.count == 2, let first = pair.first, let last = pair.last, first <= last else { return nil }
        return first...last
      })
  }
}
