import ErrandCore
import Foundation

/// What the record of a transfer keeps of the response until the app is notified of the end: the status, the fields
/// that are needed later, and the origin of the URL. Cookies and all other fields are dropped.
struct BackgroundAnswer: Sendable, Hashable, Codable {
  private let status: Int
  private let fields: [String: [String]]
  private let origin: String
  /// The length of the response file in bytes when it arrived; nil in records of earlier versions.
  let bytes: Int64?

  /// The fields that the checks and the file name need.
  private static let kept: [HTTPFieldName] = [
    .contentType, .contentLength, .contentEncoding, "Content-Range", "Content-Disposition", "Content-Digest",
    "Repr-Digest", "Transfer-Encoding",
  ]

  /// The further fields that an app may need from the response to an upload: where the new resource is, and its
  /// version.
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

  /// The response headers, reduced to the fields that were kept.
  var head: ResponseHead {
    let fields = fields.sorted { $0.key < $1.key }.flatMap { name, values in
      values.map { HTTPField(HTTPFieldName(name), $0) }
    }
    return ResponseHead(status: status, fields: HTTPFields(fields))
  }

  /// Throws if the response file no longer has the length that it had when it arrived.
  func check(length: Int64, of kind: BackgroundKind) throws(APIError) {
    guard let bytes, bytes != length else { return }
    throw .backgroundLost("only \(length) of the \(bytes) received bytes are left", kind)
  }

  /// The response, with the given bytes as its body. Nil if the record holds an invalid origin.
  func response(_ body: Data) -> HTTPResponse? {
    (try? HTTPURL(origin)).map { HTTPResponse(head: head, body: body, url: $0) }
  }
}
