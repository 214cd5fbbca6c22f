package import ErrandCore
import ErrandSupport

/// The entity tag of a response (RFC 9110 section 8.8.3).
package struct EntityTag: Sendable, Hashable {
  /// The tag including its quotes, without the prefix `W/`.
  package let opaque: String
  /// Whether the tag is weak: equal weak tags mean equivalent bodies, but not equal bytes.
  package let isWeak: Bool

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

  /// The entity tag of a response; nil if the response has no `ETag` or several.
  package init?(of fields: HTTPFields) {
    let values = fields.values(of: .eTag)
    guard let value = values.first, values.count == 1 else { return nil }
    self.init(value)
  }

  /// Whether both tags match in a weak comparison (RFC 9110 section 8.8.3.2).
  package func isWeaklyEqual(_ other: EntityTag) -> Bool { opaque.hasSameBytes(as: other.opaque) }
}

extension EntityTag: ComparedByBytes {
  package var identity: some Hashable { Parts(ByteText(opaque), isWeak) }
}
