import ErrandCore
import Foundation

/// What is kept of an answer until its end is told: no cookie and no other field that nobody asks for, and of the URL
/// the origin.
struct BackgroundAnswer: Sendable, Hashable, Codable {
  private let status: Int
  private let fields: [String: [String]]
  private let origin: String
  /// The length of its file when it came; nil in records of earlier versions.
  let bytes: Int64?

  /// The fields that checks and names come from.
  private static let kept: [HTTPFieldName] = [
    .contentType, .contentLength, .contentEncoding, "Content-Range", "Content-Disposition", "Content-Digest",
    "Repr-Digest", "Transfer-Encoding",
  ]

  /// What an app may want of the answer to an upload besides: where the new thing is, and which version of it.
  private static let keptOfUploads: [HTTPFieldName] = [
    "Location", "Content-Location", "ETag", "Last-Modified", "Retry-After",
  ]

  init(_ head: ResponseHead, _ url: HTTPURL, to kind: BackgroundKind, bytes: Int64? = nil) {
    self.bytes = bytes
    let kept = kind == .upload ? Self.kept + Self.keptOfUploads : Self.kept
    status = head.status
    origin = "\(url.origin)/"
    fields = Dictionary(
      kept.filter { head.fields.contains($0) }.map { ($0.rawValue, head.fields.values(of: $0)) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The head, as far as it was kept.
  var head: ResponseHead {
    let fields = fields.sorted { $0.key < $1.key }.flatMap { name, values in
      values.map { HTTPField(HTTPFieldName(name), $0) }
    }
    return ResponseHead(status: status, fields: HTTPFields(fields))
  }

  /// Throws where the file of the answer, or of what it brought, is not as long any more as it was when it came.
  func check(length: Int64, of kind: BackgroundKind) throws(APIError) {
    guard let bytes, bytes != length else { return }
    throw .backgroundLost("\(length) of the \(bytes) bytes that came are left", kind)
  }

  /// The answer with so much of its body; nil where the record says what cannot be.
  func response(_ body: Data) -> HTTPResponse? {
    (try? HTTPURL(origin)).map { HTTPResponse(head: head, body: body, url: $0) }
  }
}
