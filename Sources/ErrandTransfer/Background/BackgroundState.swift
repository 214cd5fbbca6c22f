import ErrandCore
import Foundation

/// The saved state of a background transfer: one JSON object in the file `<id>.download` or `<id>.upload`. It contains
/// neither the URL nor the fields of the request, because they may hold secrets.
protocol BackgroundState: Sendable, Codable {
  /// Whether records of this type belong to downloads or to uploads.
  static var kind: BackgroundKind { get }
  /// The number of the record format that this version of the library writes and reads. Records of any other format are
  /// ignored.
  static var currentFormat: Int { get }

  var format: Int { get }
  var id: String { get }
  var tag: String? { get }
  /// The status codes that the response to the transfer may have.
  var statusRule: StatusRule { get }
  var contentTypes: [String]? { get }
  /// Whether the response to the transfer must arrive over https.
  var isSecure: Bool { get }
  var phase: BackgroundPhase { get set }
}

extension BackgroundState {
  /// The JSON bytes that are written into the record file.
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

  /// Checks the scheme, the status and the content type of a response, in this order. So the error for an error page
  /// names the status and not the content type.
  func judge(_ response: HTTPResponse) throws(APIError) {
    if isSecure, response.url.scheme != .https {
      throw .backgroundDowngrade(Self.kind)
    }
    try Validating.checkStatus(of: response, by: statusRule)
    try Validating.checkContentType(of: response, among: contentTypes)
  }
}

extension StatusRule {
  /// The accepted status codes in the form that a record stores. Each inner array contains the first and the last code
  /// of a range.
  var recorded: [[Int]] { ranges.map { [$0.lowerBound, $0.upperBound] } }

  /// Creates the rule from the status codes in a record. Inner arrays that are not a valid range are skipped.
  init(recorded pairs: [[Int]]) {
    self.init(
      ranges: pairs.compactMap { pair in
        guard pair.count == 2, let first = pair.first, let last = pair.last, first <= last else { return nil }
        return first...last
      })
  }
}
