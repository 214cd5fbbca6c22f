import ErrandCache
import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

struct CacheEntryCodingTests {
  private static let heads: [CacheEntryHead] = [
    Sample.head(),
    Sample.head(variant: "de", time: .min, tag: "feed", isMemoryOnly: true),
    CacheEntryHead(
      variant: Sample.digest("x"), answer: ResponseHead(status: 404, reason: "", version: .http2),
      requestTime: WallTime(milliseconds: -1), responseTime: WallTime(milliseconds: .max), policy: .http(version: -3),
      label: CacheEntryLabel(method: "", url: "", host: "", tag: "")),
    CacheEntryHead(
      variant: Sample.digest("x"), vary: [VaryingField(name: "a", value: nil), VaryingField(name: "b", value: "")],
      answer: ResponseHead(
        status: 599, reason: "é", version: .http1_0,
        fields: HTTPFields([HTTPField("A", "1\n2"), HTTPField("A", "3", isSecret: true), HTTPField("Set-Cookie", "c")])),
      requestTime: WallTime(milliseconds: 0), responseTime: WallTime(milliseconds: 0),
      policy: .httpElse(.nanoseconds(1), version: .max),
      label: CacheEntryLabel(method: "M", url: "u", host: "h", tag: nil)),
    CacheEntryHead(
      variant: Sample.digest("x"),
      answer: ResponseHead(
        status: 200, fields: ["": "", "Empty": "", "Set-Cookie": "a", "set-cookie": "b:c", "ETag": "\"\u{F7E9}\""]),
      requestTime: WallTime(milliseconds: 0), responseTime: WallTime(milliseconds: 0), policy: .none,
      label: CacheEntryLabel(method: "M", url: "u", host: "h", tag: nil)),
  ]

  @Test(arguments: heads, [0, 1, 7, 8, 31, 32, 33, 100_000])
  func `encoded entry decodes unchanged`(_ head: CacheEntryHead, length: Int) throws {
    let entry = CacheEntry(key: Sample.key("/a", account: "x"), head: head, body: Sample.bytes(length))
    let read = try #require(CacheEntry(encoded: entry.encoded()))
    #expect(read.key.entry == entry.key.entry && read.key.anyAccount == entry.key.anyAccount)
    #expect(read.key.target == entry.key.target && read.key.account == entry.key.account)
    #expect(read.head == head)
    #expect(read.body == entry.body)
    #expect(read.encoded() == entry.encoded())
  }

  @Test func `monotonic time is not encoded`() throws {
    var head = Sample.head()
    head.received = MonotonicInstant(nanoseconds: 5)
    let read = try #require(CacheEntry(encoded: CacheEntry(key: Sample.key("/"), head: head, body: Data()).encoded()))
    #expect(read.head.received == nil)
    head.received = nil
    #expect(read.head == head)
  }

  @Test(arguments: heads) func `any flipped bit is detected`(_ head: CacheEntryHead) {
    let entry = CacheEntry(key: Sample.key("/a"), head: head, body: Sample.bytes(50))
    let bytes = entry.encoded()
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        #expect(CacheEntry(encoded: damaged) == nil, "byte \(index), bit \(bit)")
      }
    }
  }

  @Test func `every truncation is detected`() {
    let bytes = Sample.entry("/a").encoded()
    for count in 0..<bytes.count {
      #expect(CacheEntry(encoded: bytes.prefix(count)) == nil)
      #expect(CacheEntryRecord(encoded: bytes.dropFirst(8).prefix(count)) == nil || count >= bytes.count - 12)
    }
    #expect(CacheEntry(encoded: bytes + [0]) == nil)
  }

  @Test func `random bytes do not decode`() {
    for seed in 1..<2_000 {
      let bytes = Sample.bytes(seed % 300, seed: UInt64(seed))
      #expect(CacheEntry(encoded: bytes) == nil)
      #expect(CacheEntryRecord(encoded: Data([1]) + bytes) == nil)
    }
  }

  /// The checksum is corrected, so that the decoder itself is attacked.
  @Test(arguments: 0..<10 as Range<UInt64>) func `forged records do not trap`(seed: UInt64) throws {
    let record = CacheEntryRecord(Sample.entry("/a", head: Self.heads[3])).encoded()
    var random = SeededNumbers(seed: seed)
    var refused = 0
    for _ in 0..<2_000 {
      var forged = record
      for _ in 0..<3 {
        let index = Int.random(in: 169..<forged.count, using: &random)
        let any = UInt8.random(in: 0...255, using: &random)
        forged[index] = [0, 1, 0x7F, 0x80, 0xFF, any].randomElement(using: &random) ?? 0
      }
      if CacheEntryRecord(encoded: resummed(forged)) == nil { refused += 1 }
    }
    #expect(refused > 100)
    #expect(CacheEntryRecord(encoded: resummed(record)) != nil)
  }

  /// Found by a fuzzer: a record may contain any value, and must decode to the same value again.
  @Test func `impossible lifetime is rejected`() throws {
    var head = Sample.head()
    head.policy = .lifetime(Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999))
    let record = CacheEntryRecord(CacheEntry(key: Sample.key("/a"), head: head, body: Data([1]))).encoded()
    let longest = try #require(CacheEntryRecord(encoded: record))
    #expect(longest.head.policy == head.policy && longest.encoded() == record)
    // Skips version and checksum, five digests, length and checksum of the body, two times, the model and the seconds.
    let place = 9 + 5 * 32 + 1 + 8 + 16 + 1 + 8
    var forged = record
    withUnsafeBytes(of: Int64.max.littleEndian) { forged.replaceSubrange(place..<(place + 8), with: $0) }
    #expect(CacheEntryRecord(encoded: resummed(forged)) == nil)
  }

  private func resummed(_ record: Data) -> Data {
    let sum = CacheEntryRecord(key: Sample.key("/"), head: Sample.head(), storedBody: record.dropFirst(9)).bodyChecksum
    return record.prefix(1) + withUnsafeBytes(of: sum.littleEndian) { Data($0) } + record.dropFirst(9)
  }

  @Test func `record verifies its body`() throws {
    let entry = Sample.entry("/a")
    let record = try #require(CacheEntryRecord(encoded: CacheEntryRecord(entry).encoded()))
    #expect(record.fits(storedBody: entry.body))
    #expect(record.bodyLength == entry.body.count)
    #expect(!record.fits(storedBody: entry.body + [0]))
    #expect(!record.fits(storedBody: Data("bodz".utf8)))
    #expect(record.renewed(Sample.head(time: 7)).fits(storedBody: entry.body))
    #expect(record.renewed(Sample.head(time: 7)).head.responseTime.milliseconds == 7)
  }
}
