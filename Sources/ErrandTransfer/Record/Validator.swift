package import ErrandCore
import ErrandSupport

/// What tells one version of a resource from every other, byte for byte: the value of `If-Range` (RFC 9110 section
/// 13.1.5).
package enum Validator: Sendable, Hashable {
  /// A strong entity tag, with its quotes, as it came.
  case entityTag(String)
  /// A date that is strong, as it came.
  case lastModified(String)

  /// How much later than `Last-Modified` the `Date` must be, so that the resource cannot have changed twice within the
  /// second that both name (RFC 9110 section 8.8.2.2 asks for one second; servers' clocks and caches ask for more).
  private static let distance: Int64 = 60_000

  /// The validator of an answer, nil where it has none that is strong.
  ///
  /// Where there is a tag, even a weak or damaged one, the date must not be used (RFC 9110 section 13.1.5). A tag with
  /// bytes beyond ASCII is not used: what is sent back might not be the same bytes.
  /// - Parameter now: The present in milliseconds since 1970, for dates with two digits of a year.
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

  /// The value as it came, which is sent in `If-Range`.
  package var fieldValue: String {
    switch self {
    case .entityTag(let value), .lastModified(let value): value
    }
  }

  /// Whether a text is an entity tag (RFC 9110 section 8.8.3) that is strong.
  static func isStrong(_ tag: String) -> Bool {
    let bytes = Array(tag.utf8)
    return bytes.count >= 2 && bytes.first == 0x22 && bytes.last == 0x22
      && bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || $0 >= 0x23 && $0 < 0x7F }
  }

  /// Whether an answer's own fields contradict it. An answer that names no validator does not.
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

  /// Reads a kind and a value, which is checked as a received one would be.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let value = try container.decode(String.self, forKey: .value)
    switch try container.decode(Kind.self, forKey: .kind) {
    case .entityTag where Self.isStrong(value): self = .entityTag(value)
    case .lastModified where HTTPDate.milliseconds(of: value, now: 0) != nil: self = .lastModified(value)
    case .entityTag, .lastModified:
      throw DecodingError.dataCorruptedError(forKey: .value, in: container, debugDescription: "no strong validator")
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
