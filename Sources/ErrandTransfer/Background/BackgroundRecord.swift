import ErrandCore
import Foundation

/// The saved state of a background transfer: one JSON object in the file `<id>.download` or `<id>.upload`. It contains
/// neither the URL nor the fields of the request, because they may hold secrets.
protocol BackgroundRecord: Sendable, Codable {
  /// The kind of the transfer.
  static var kind: BackgroundKind { get }
  /// The format that is written and read. Records of any other format are ignored.
  static var currentFormat: Int { get }

  var format: Int { get }
  var id: String { get }
  var tag: String? { get }
  /// The accepted status codes.
  var statusRule: StatusRule { get }
  var contentTypes: [String]? { get }
  /// Whether the response must arrive over https.
  var isSecure: Bool { get }
  var phase: BackgroundPhase { get set }
}

extension BackgroundRecord {
  /// The bytes of the record file.
  func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Reads the bytes of a record file; nil if they are not a record of this format.
  static func read(_ bytes: Data) -> Self? {
    guard let record = try? JSONDecoder().decode(Self.self, from: bytes), record.format == currentFormat else {
      return nil
    }
    return record
  }

  /// Checks the scheme, the status and the content type, in this order. So an error page is reported by its status and
  /// not by its content type.
  func judge(_ response: HTTPResponse) throws(APIError) {
    if isSecure, response.url.scheme != .https {
      throw APIError(
        .redirect, .redirectRefused, "The system followed a redirect from https to http; the file was deleted.")
    }
    try Validating.checkStatus(of: response, by: statusRule)
    try Validating.checkContentType(of: response, among: contentTypes)
  }
}

extension StatusRule {
  /// The accepted codes as a record stores them: pairs of first and last.
  var recorded: [[Int]] { ranges.map { [$0.lowerBound, $0.upperBound] } }

  /// Reads the codes of a record and skips invalid pairs.
  init(recorded pairs: [[Int]]) {
    self.init(
      ranges: pairs.compactMap { pair in
        guard pair.count == 2, let first = pair.first, let last = pair.last, first <= last else { return nil }
        return first...last
      })
  }
}
