// A cache store of your own, below a memory store.
import Errand
import ErrandCache
import ErrandHTTP
import ErrandTesting
import Foundation
import Synchronization

// snippet.store
/// Coded entries under the key's digest, in a dictionary that you replace by your database.
final class BoxStore: CacheStore {
  private let box = Mutex<[String: [Data]]>([:])
  private let ownSalt = Digest.random()  // store its bytes next to the entries

  func salt(call: CallState, patience: Duration?) async -> Digest? { ownSalt }

  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?,
    call: CallState, patience: Duration?
  ) async -> CacheLookup {
    let entries = entries(under: key)
    if entries.isEmpty { return .missing }
    let heads = entries.map(\.head)
    guard let index = choosing(heads), entries.indices.contains(index) else {
      return .refused(heads)
    }
    return .found(entries[index])
  }

  func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    all.contains { $0.key.anyAccount == anyAccount && !accounts.contains($0.key.account) }
  }

  func put(_ entry: CacheEntry) {
    if entry.head.isMemoryOnly {  // no byte of it may leave memory
      return remove(.key(entry.key))
    }
    remove(.variant(entry.key, entry.head.variant))
    box.withLock { $0[Self.name(entry.key), default: []].append(entry.encoded()) }
  }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    let old = entries(under: key).first {
      $0.head.variant == head.variant && $0.head.responseTime == stored
    }
    if let old { put(CacheEntry(key: key, head: head, body: old.body)) }
  }

  func remove(_ selection: CacheSelection) {
    box.withLock { box in
      box = box.mapValues { $0.filter { Self.stays($0, after: selection) } }
    }
  }

  func list() async -> [CacheListing] {
    let list = all.map {
      CacheListing(
        head: $0.head, key: $0.key, bodyLength: $0.body.count, lastUse: $0.head.responseTime)
    }
    return list.sorted { $0.lastUse > $1.lastUse }
  }

  func size() async -> CacheSize {
    let all = all
    return CacheSize(
      entries: all.count, bytes: all.reduce(0) { $0 + $1.body.count }, limit: nil)
  }

  func flush() async {}

  private var all: [CacheEntry] {
    box.withLock { Array($0.values.joined()) }.compactMap(CacheEntry.init(encoded:))
  }

  /// An entry that cannot be decoded is damaged or of another version, and counts as missing.
  private func entries(under key: CacheKey) -> [CacheEntry] {
    box.withLock { $0[Self.name(key)] ?? [] }.compactMap(CacheEntry.init(encoded:))
      .sorted { $0.head.responseTime > $1.head.responseTime }
  }

  private static func stays(_ bytes: Data, after selection: CacheSelection) -> Bool {
    CacheEntry(encoded: bytes).map { !selection.picks($0.key, $0.head) } ?? false
  }

  private static func name(_ key: CacheKey) -> String {
    Data(key.entry.bytes).base64EncodedString()
  }
}
// snippet.end

struct Version: APIRequest {
  var path: Path { "/version" }
  var cache: CachePolicy { .lifetime(.seconds(60)) }
  typealias Response = String
}

let server = try LoopbackServer { _ in .ok("1.0") }
let baseURL = server.url

// snippet.use
let tiers = TieredStore(memory: MemoryStore(limit: 8 << 20), base: BoxStore())
let cache = ResponseCache(store: tiers)

var configuration = ClientConfiguration(baseURL: baseURL)
configuration.cache.store = .own(cache)
let client = APIClient(configuration)
// snippet.end
for _ in 1...2 { print(try await client.response(Version()).origin) }
