package import Foundation

/// Removes arguments that do not affect the response, such as a timestamp, from the parts of a cache key.
///
/// An argument is identified by its percent-decoded name. The name of a list also identifies the elements of the list:
/// `tags` also removes `tags[]` and `tags[0]`. The bytes of the remaining arguments do not change.
package struct LeftOutArguments: Sendable, Hashable {
  private let names: Set<[UInt8]>

  package init(_ names: [String]) { self.names = Set(names.map { Array($0.utf8) }) }

  /// Returns a query without the arguments that must be removed; nil if `query` is nil or no argument remains.
  package func query(_ query: String?) -> String? {
    guard !names.isEmpty, let query else { return query }
    let pairs = query.utf8.split(separator: 0x26, omittingEmptySubsequences: false)
    let kept = pairs.filter { !isLeftOut(pair: $0) }
    if kept.count == pairs.count { return query }
    return kept.isEmpty ? nil : String(decoding: Array(kept.joined(separator: [0x26])), as: UTF8.self)
  }

  /// Returns the parts of a form or of a JSON object that remain after the arguments were removed. Nil if the body is
  /// of another type, or if no names of arguments to remove are given. The whole body is then part of the cache key.
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

  /// Decodes percent-encoding and replaces each plus by a space. An invalid escape sequence is not changed.
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
