import ErrandCore
import ErrandSupport

/// Finds stored responses by equivalent URLs: those that differ only in parts of the query that the response declares
/// irrelevant with `No-Vary-Search` (see ``SearchVariation``).
///
/// The table contains, for each path, the latest variations and the keys of the latest responses. A lookup that finds
/// the response under its own URL never reads it. The table only saves requests. It plays no part in removals: these
/// remove every response with the field under a path (see ``CacheGroup/equivalents(of:)``), whether the table knows it
/// or not. So a key in the table may lead to nothing, but never to a response that should have been removed.
///
/// Digests contain the account, the method, the secret fields and the salt of the store, exactly as ``CacheKey/entry``
/// does, but the query in normal form. So no account finds the response of another.
struct SearchTable: Sendable {
  /// The maximum number of variations of one path. Servers should send the same field for all URLs of a path.
  static let mostVariations = 4
  /// The maximum size in bytes, which is estimated. If it is reached, the table starts again empty.
  static let mostBytes = 1 << 20
  /// The estimated size of one response in the table.
  private static let itemBytes = 256

  private struct Path: Hashable, Sendable {
    let origin: HTTPURL.Origin
    let path: ByteText

    init(_ url: HTTPURL) {
      origin = url.origin
      path = ByteText(url.path.isEmpty ? "/" : url.path)
    }

    var bytes: Int { 256 + origin.host.utf8.count + path.text.utf8.count }
  }

  private struct Rule: Sendable {
    let variation: SearchVariation
    var items: [Digest: CacheKey] = [:]

    var bytes: Int { variation.cost + items.count * SearchTable.itemBytes }
  }

  private var paths: [Path: [Rule]] = [:]
  /// The estimated size, in bytes.
  private(set) var bytes = 0

  /// The variations that responses for this path declared, latest first.
  func variations(of url: HTTPURL) -> [SearchVariation] {
    paths.isEmpty ? [] : paths[Path(url)]?.map(\.variation) ?? []
  }

  /// The key of the latest response for an equivalent URL.
  /// - Parameter entry: The digest of the request with its query in normal form.
  func key(_ url: HTTPURL, _ variation: SearchVariation, entry: Digest) -> CacheKey? {
    paths[Path(url)]?.first { $0.variation == variation }?.items[entry]
  }

  /// Remembers a response. It replaces the response of an equivalent URL.
  mutating func insert(_ url: HTTPURL, _ variation: SearchVariation, entry: Digest, key: CacheKey) {
    let path = Path(url)
    if bytes + path.bytes + variation.cost + Self.itemBytes > Self.mostBytes { self = SearchTable() }
    bytes += Self.insert(key, entry, variation, into: &paths[path, default: []]) { path.bytes }
  }

  /// Forgets the response for an equivalent URL, because a newer response arrived.
  mutating func forget(_ url: HTTPURL, _ variation: SearchVariation, entry: Digest) {
    guard let index = paths[Path(url)]?.firstIndex(where: { $0.variation == variation }) else { return }
    if paths[Path(url)]?[index].items.removeValue(forKey: entry) != nil { bytes -= Self.itemBytes }
  }

  /// Returns the number of bytes by which the table grows. The rules are changed in place, because a copy of a long
  /// table takes time while a lock is held.
  private static func insert(
    _ key: CacheKey, _ entry: Digest, _ variation: SearchVariation, into rules: inout [Rule], bytesOfPath: () -> Int
  ) -> Int {
    var growth = rules.isEmpty ? bytesOfPath() : 0
    if let place = rules.firstIndex(where: { $0.variation == variation }) {
      rules.insert(rules.remove(at: place), at: 0)
    } else {
      rules.insert(Rule(variation: variation), at: 0)
      growth += variation.cost
    }
    if rules[0].items.updateValue(key, forKey: entry) == nil { growth += itemBytes }
    if rules.count > mostVariations { growth -= rules.removeLast().bytes }
    return growth
  }
}

extension CacheLookupResult {
  /// Whether responses are served for equivalent URLs. Only a store in memory has the order in which a removal affects
  /// every equivalent response before the next lookup: other processes that share a store on disk or in Redis know
  /// nothing of the table, and there a removal by path would read many entries for each request that changes something.
  var servesEquivalentURLs: Bool { store is MemoryStore && rules.followsHTTPRules && rules.isReading }

  /// The digest of the request of this lookup among equivalent requests: that of its key, with the query in normal form.
  func digest(_ variation: SearchVariation, _ request: HTTPRequest, _ context: CallContext) -> Digest {
    var request = request
    request.fields = rules.fields
    var keyed = context.keyed(request, owner: namesAccount ? context.account : nil, cookies: cookies)
    keyed.url = variation.normalForm(of: rules.url)
    return recipe.key(for: keyed).entry
  }
}
