import ErrandCore
import Foundation

/// The part of a response that the saved record of a background transfer contains: the status, the fields that are
/// needed later, and the origin of the URL. Cookies and all other fields are not stored. The record is removed after
/// the app has been notified of the end of the transfer.
struct StoredResponse: Sendable, Hashable, Codable {
  private let status: Int
  private let fields: [String: [String]]
  private let origin: String
  /// The length in bytes that the response file had when it arrived. Nil in records that an earlier version of the
  /// library wrote.
  let bytes: Int64?

  /// The response fields that the library needs to validate the file and to choose its name.
  private static let kept: [HTTPFieldName] = [
    .contentType, .contentLength, .contentEncoding, "Content-Range", "Content-Disposition", "Content-Digest",
    "Repr-Digest", "Transfer-Encoding",
  ]

  /// Additional fields that an app may need from the response to an upload: the location of the new resource, its
  /// version, and the time after which to retry.
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

  /// The headers of the response with only those fields that the record stores.
  var head: ResponseHead {
    let fields = fields.sorted { $0.key < $1.key }.flatMap { name, values in
      values.map { HTTPField(HTTPFieldName(name), $0) }
    }
    return ResponseHead(status: status, fields: HTTPFields(fields))
  }

  /// Throws if the length of the response file has changed since the file arrived.
  func check(length: Int64, of kind: BackgroundKind) throws(APIError) {
    if let bytes, bytes != length { throw .backgroundLength(length, insteadOf: bytes, kind) }
  }

  /// The response with the given bytes as its body. Nil if the stored origin is not a valid URL.
  func response(_ body: Data) -> HTTPResponse? {
    (try? HTTPURL(origin)).map { HTTPResponse(head: head, body: body, url: $0) }
  }
}
