import CHiredis
@testable import ErrandCache
import ErrandCore
@testable import ErrandRedis
@testable import ErrandTransfer
import Foundation

/// What lies on disks and in stores.
enum StoredTargets {
  /// The bytes as they are, and once more as the record of an entry whose checksums are made to fit.
  static func cacheEntry(_ input: FuzzInput) {
    if let entry = CacheEntry(encoded: input.data) { checkEntry(entry) }
    if let record = CacheEntryRecord(encoded: input.data) { checkRecord(record) }
    var bytes: [UInt8] = [1] + Array(repeating: 0, count: 8) + input.bytes
    let sum = bytes.withUnsafeBytes { Checksum64.of(UnsafeRawBufferPointer(rebasing: $0[9...])) }
    withUnsafeBytes(of: sum.littleEndian) { bytes.replaceSubrange(1..<9, with: $0) }
    if let record = CacheEntryRecord(encoded: Data(bytes)) { checkRecord(record) }
  }

  private static func checkEntry(_ entry: CacheEntry) {
    guard let again = CacheEntry(encoded: entry.encoded()) else { fatalError("property: an entry is read again") }
    check(again.body == entry.body && again.key == entry.key, "an entry stays the same")
  }

  private static func checkRecord(_ record: CacheEntryRecord) {
    let written = record.encoded()
    guard let again = CacheEntryRecord(encoded: written) else { fatalError("property: a record is read again") }
    check(again.encoded() == written, "a record stays the same")
    check(again.head.answer.fields.all.count == record.head.answer.fields.all.count, "no field is lost")
    _ = "\(record.head)"
    decide(record.head)
  }

  /// Whatever the times of a record are, somebody must reckon with them.
  private static func decide(_ head: CacheEntryHead) {
    guard let request = try? HTTPRequest(url: "http://h/", fields: ["Cache-Control": "max-stale=5, min-fresh=1"]) else {
      return
    }
    for policy in [head.policy, .lifetime(.seconds(60)), .http, .httpElse(.seconds(5))] {
      let rules = CacheRules(request, policy: policy)
      for now in [0, 1_700_000_000_000, Int64.max, Int64.min] {
        let moment = CacheMoment(wall: WallTime(milliseconds: now), monotonic: MonotonicInstant(nanoseconds: 0))
        _ = rules.decide(head, at: moment)
        _ = rules.mayServe(head, after: .noResponse, by: .anyAge, at: moment)
      }
    }
  }

  /// The bytes as they are, and once more with the seal that fits.
  static func partRecord(_ input: FuzzInput) {
    checkPart(PartMetadata.read(input.data))
    let digits = String(CRC32.of(input.data), radix: 16)
    let zeros = String(repeating: "0", count: 8 - digits.count)
    checkPart(PartMetadata.read(input.data + Data(",\"crc32\":\"\(zeros)\(digits)\"}\n".utf8)))
  }

  private static func checkPart(_ metadata: PartMetadata?) {
    guard let metadata else { return }
    check(metadata.committed >= 0 && metadata.finished.end >= metadata.committed, "ranges can be")
    check(metadata.total.map { $0 >= metadata.finished.end } ?? true, "no range lies behind the end")
    _ = metadata.finished.missing(of: metadata.total ?? .max)
    _ = metadata.finished.count
    guard let written = try? metadata.encoded(), let again = PartMetadata.read(written) else {
      fatalError("property: a record is read again")
    }
    check(again == metadata, "a record stays the same")
  }

  /// The bytes of a Redis server, as hiredis cuts them into replies.
  static func redisReply(_ input: FuzzInput) {
    guard let reader = redisReaderCreate() else { return }
    var limits = errand_redis_limits()
    withUnsafeMutablePointer(to: &limits) { limits in
      errand_redis_bind(reader, limits, 1 << 20)
      read(input, reader)
      redisReaderFree(reader)
    }
  }

  private static func read(_ input: FuzzInput, _ reader: UnsafeMutablePointer<redisReader>) {
    guard let base = input.bytes.baseAddress,
      redisReaderFeed(reader, base.assumingMemoryBound(to: CChar.self), input.bytes.count) == REDIS_OK
    else { return }
    for _ in 0..<8 {
      var found: UnsafeMutableRawPointer?
      guard redisReaderGetReply(reader, &found) == REDIS_OK, let found else { return }
      defer { freeReplyObject(found) }
      judge(RedisReply(UnsafePointer(found.assumingMemoryBound(to: CHiredis.redisReply.self))))
    }
  }

  private static let key: CacheKey = {
    let zero = Digest(words: (0, 0, 0, 0))
    return CacheKey(entry: zero, anyAccount: zero, target: zero, account: zero)
  }()

  private static func judge(_ reply: RedisReply) {
    if let salt = reply.salt { check(Digest(hex: salt.hex) == salt, "a salt is read again") }
    _ = (reply.text, reply.number, reply.lacksScript, reply.isError)
    if let data = reply.data, let sum = BodyChecksum(encoded: data) {
      check(sum.encoded == data, "a checksum is read again")
    }
    guard let found = RedisFound(reply, key) else { return }
    check(found.candidates.count + found.damaged.count == (reply.list.count - 4) / 2, "each response is judged")
  }
}
