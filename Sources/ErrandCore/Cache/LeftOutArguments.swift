import ErrandJSON
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
  /// of another type, if it is not valid JSON, or if no names of arguments to remove are given. The whole body is then
  /// part of the cache key.
  package func pieces(of body: Data, type: String?) -> [ArraySlice<UInt8>]? {
    guard !names.isEmpty, let type = type.flatMap({ MediaType($0) }) else { return nil }
    if type.isForm {
      let pairs = Array(body).split(separator: 0x26, omittingEmptySubsequences: false)
      return pairs.filter { !isLeftOut(pair: $0) }
    }
    guard type.isJSON, let members = try? ParsedJSON(body).members else { return nil }
    let kept = members.filter { !names.contains(Array($0.name.utf8)) }
    return kept.flatMap { [Array($0.key)[...], Array($0.value)[...]] }
  }

  private func isLeftOut(pair: some Collection<UInt8>) -> Bool {
    let name = PercentEncoding.decodedLeniently(pair.prefix { $0 != 0x3D }, plusIsSpace: true)
    if names.contains(name) { return true }
    guard let bracket = name.firstIndex(of: 0x5B), bracket > 0 else { return false }
    return names.contains(Array(name[..<bracket]))
  }
}
