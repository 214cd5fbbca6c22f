package import ErrandCore

/// The properties of a file that the headers of a complete response state.
package struct ResponseProperties: Sendable, Hashable {
  /// The validator of the file's version (`ETag` or `Last-Modified`). Nil if the response has no strong validator
  /// or if the server supports no ranges, so that the download cannot be resumed.
  package let validator: Validator?
  /// The length of the file in bytes. Nil if the response does not state it, or if the body has a content coding,
  /// because the stated length is then the length of the coded body.
  package let total: Int64?
  /// The content coding of the response, such as gzip; nil if the response has none.
  package let coding: String?

  package init(validator: Validator?, total: Int64?, coding: String?) {
    self.validator = validator
    self.total = total
    self.coding = coding
  }

  /// Reads the properties of the file from response headers.
  /// - Parameter now: The current time in milliseconds since 1970.
  package init(of head: ResponseHead, now: Int64) {
    let coding = Self.coding(of: head.fields)
    // Only a response with status 200 has a usable validator. A proxy that sends status 203 has transformed the body,
    // but the validator may still be that of the original body.
    let isOriginal = head.status == 200 && coding == nil
    self.init(
      validator: isOriginal && !Self.hasNoRanges(head.fields) ? Validator(of: head.fields, now: now) : nil,
      total: coding == nil ? Self.length(of: head.fields) : nil, coding: coding)
  }

  /// Names in `Content-Encoding` that are no content codings, although servers send them: the bytes of the body are
  /// those of the file. An object that was uploaded to S3 in chunks keeps the name `aws-chunked`.
  private static let unchanging: Set<String> = ["identity", "aws-chunked", "none", "utf-8", "binary"]

  /// The content codings as received; nil if none of them changes the bytes.
  package static func coding(of fields: HTTPFields) -> String? {
    let codings = members(of: .contentEncoding, in: fields).filter { !unchanging.contains($0.lowercased()) }
    return codings.isEmpty ? nil : codings.joined(separator: ", ")
  }

  /// Whether the server says that it supports no ranges: `Accept-Ranges` has the only member `none` (RFC 9110 section
  /// 14.3).
  private static func hasNoRanges(_ fields: HTTPFields) -> Bool {
    Set(members(of: "Accept-Ranges", in: fields).map { $0.lowercased() }) == ["none"]
  }

  /// The members of a comma-separated list.
  private static func members(of name: HTTPFieldName, in fields: HTTPFields) -> [String] {
    fields.values(of: name).flatMap { $0.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } } }
      .filter { !$0.isEmpty }
  }

  private static func length(of fields: HTTPFields) -> Int64? {
    let values = Set(fields.values(of: .contentLength))
    guard values.count == 1, !fields.contains("Transfer-Encoding") else { return nil }
    return values.first.flatMap { DecimalNumber.read($0.utf8) }
  }
}
