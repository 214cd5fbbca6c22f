package import ErrandCore
import ErrandSupport

/// The strong validator of a resource version: a value that changes whenever a byte of the resource changes. It is sent
/// in `If-Range` (RFC 9110 section 13.1.5).
package enum Validator: Sendable, Hashable {
  /// The validator is a strong entity tag. The text is the tag as received, including its quotes.
  case entityTag(String)
  /// The validator is a `Last-Modified` date. The text is the date as received.
  case lastModified(String)

  /// The minimum time from `Last-Modified` to `Date`, in milliseconds. It ensures that the resource cannot have changed
  /// twice within the second that `Last-Modified` names. RFC 9110 section 8.8.2.2 requires one second. The clocks of
  /// servers and caches may differ, so this library requires 60 seconds.
  private static let distance: Int64 = 60_000

  /// The strong validator of a response; nil if it has none.
  ///
  /// If there is an entity tag, even a weak or malformed one, the date must not be used (RFC 9110 section 13.1.5).
  /// - Parameter now: The current time in milliseconds since 1970, for dates with a two-digit year.
  package init?(of fields: HTTPFields, now: Int64) {
    let tags = fields.values(of: .eTag)
    if let tag = tags.first {
      guard tags.count == 1, Self.isStrong(tag) else { return nil }
      self = .entityTag(tag)
      return
    }
    let changes = fields.values(of: "Last-Modified")
    let dates = fields.values(of: .date)
    guard changes.count == 1, dates.count == 1, let change = changes.first, let date = dates.first,
      let changed = HTTPDate.milliseconds(of: change, now: now), let made = HTTPDate.milliseconds(of: date, now: now),
      made - changed >= Self.distance
    else { return nil }
    self = .lastModified(change)
  }

  /// The value of the validator as received, which is sent in `If-Range`.
  package var fieldValue: String {
    switch self {
    case .entityTag(let value), .lastModified(let value): value
    }
  }

  /// Whether a text is a strong entity tag (RFC 9110 section 8.8.3).
  static func isStrong(_ tag: String) -> Bool {
    let bytes = Array(tag.utf8)
    return bytes.count >= 2 && bytes.first == 0x22 && bytes.last == 0x22
      && bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }
  }

  /// Whether a response states another value for this validator. False if the response states no value.
  func isContradicted(by fields: HTTPFields) -> Bool {
    switch self {
    case .entityTag(let tag): fields.values(of: .eTag).contains { !$0.hasSameBytes(as: tag) }
    case .lastModified(let date): fields.values(of: "Last-Modified").contains { !$0.hasSameBytes(as: date) }
    }
  }
}

extension Validator: Codable {
  private enum Kind: String, Codable { case entityTag = "etag", lastModified = "last-modified" }
  private enum CodingKeys: CodingKey { case kind, value }

  /// Decodes a validator from its kind and its value. The value must be one that a response could have sent.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let value = try container.decode(String.self, forKey: .value)
    switch try container.decode(Kind.self, forKey: .kind) {
    case .entityTag where Self.isStrong(value): self = .entityTag(value)
    case .lastModified where HTTPDate.milliseconds(of: value, now: 0) != nil: self = .lastModified(value)
    case .entityTag, .lastModified:
      throw DecodingError.dataCorruptedError(
        forKey: .value, in: container, debugDescription: "the value is not a strong validator")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .entityTag(let value):
      try container.encode(Kind.entityTag, forKey: .kind)
      try container.encode(value, forKey: .value)
    case .lastModified(let value):
      try container.encode(Kind.lastModified, forKey: .kind)
      try container.encode(value, forKey: .value)
    }
  }
}
