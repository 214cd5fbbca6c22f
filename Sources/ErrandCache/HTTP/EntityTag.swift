package import ErrandCore
import ErrandSupport

/// A validator of an answer's body (RFC 9110 section 8.8.3).
package struct EntityTag: Sendable, Hashable {
  /// The tag with its quotes.
  package let opaque: String
  /// Whether it stands for bodies that mean the same, not for equal bytes.
  package let isWeak: Bool

  /// Reads a tag; nil where it is none.
  package init?(_ text: some StringProtocol) {
    var bytes = Array(text.utf8)[...]
    let isWeak = bytes.starts(with: "W/".utf8)
    if isWeak { bytes = bytes.dropFirst(2) }
    let inside = bytes.dropFirst().dropLast()
    guard bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22,
      inside.allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F })
    else { return nil }
    opaque = String(decoding: bytes, as: UTF8.self)
    self.isWeak = isWeak
  }

  /// The tag of an answer; nil where it has none or several.
  package init?(of fields: HTTPFields) {
    let values = fields.octets(of: .eTag)
    guard let value = values.first, values.count == 1 else { return nil }
    self.init(value)
  }

  /// Whether both mean the same.
  package func isWeaklyEqual(_ other: EntityTag) -> Bool { opaque.hasSameBytes(as: other.opaque) }

  /// Compares the bytes of both tags, and whether they are weak.
  package static func == (left: EntityTag, right: EntityTag) -> Bool {
    left.isWeaklyEqual(right) && left.isWeak == right.isWeak
  }

  /// Hashes the bytes.
  package func hash(into hasher: inout Hasher) { hasher.combine(ByteText(opaque)) }
}
