package import Foundation

/// Takes arguments that change without meaning anything, such as a time stamp, out of what a key is made of.
///
/// An argument is found by its name, percent-decoding undone, and with it its parts: `tags` takes `tags[]` and `tags[0]`
/// along. What is left stays byte for byte as it is sent.
package struct LeftOutArguments: Sendable, Hashable {
  private let names: Set<[UInt8]>

  package init(_ names: [String]) { self.names = Set(names.map { Array($0.utf8) }) }

  /// A query without the arguments; nil where nothing is left of it, or where there was none.
  package func query(_ query: String?) -> String? {
    guard !names.isEmpty, let query else { return query }
    let pairs = query.utf8.split(separator: 0x26, omittingEmptySubsequences: false)
    let kept = pairs.filter { !isLeftOut(pair: $0) }
    if kept.count == pairs.count { return query }
    return kept.isEmpty ? nil : String(decoding: Array(kept.joined(separator: [0x26])), as: UTF8.self)
  }

  /// What is left of a form or of a JSON object; nil where the body counts as it is.
  package func pieces(of body: Data, type: String?) -> [ArraySlice<UInt8>]? {
    guard !names.isEmpty, let type = type.flatMap({ MediaType($0) }) else { return nil }
    if type.essence == "application/x-www-form-urlencoded" {
      let pairs = Array(body).split(separator: 0x26, omittingEmptySubsequences: false)
      return pairs.filter { !isLeftOut(pair: $0) }
    }
    guard type.isJSON, let members = JSONMembers.read(body) else { return nil }
    return members.filter { !names.contains($0.name) }.flatMap { [$0.key, $0.value] }
  }

  private func isLeftOut(pair: some Collection<UInt8>) -> Bool {
    let name = Self.decoded(pair.prefix { $0 != 0x3D })
    if names.contains(name) { return true }
    guard let bracket = name.firstIndex(of: 0x5B), bracket > 0 else { return false }
    return names.contains(Array(name[..<bracket]))
  }

  /// The bytes with percent-escapes undone and every plus a space; an escape that is none stays.
  private static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    var rest = Array(bytes)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2).compactMap { ASCII.hexValue($0) }
      if byte == 0x25, digits.count == 2, let high = digits.first, let low = digits.last {
        out.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        out.append(byte == 0x2B ? 0x20 : byte)
      }
    }
    return out
  }
}
