import CHiredis
import ErrandCache
import Foundation
import Testing

@testable import ErrandRedis

/// Replies, commands and other data read from or written to Redis.
struct RedisReplyTests {
  /// The reply that hiredis parses from the bytes, copied.
  private func read(_ text: String) throws -> RedisReply {
    let reader = try #require(redisReaderCreate())
    defer { redisReaderFree(reader) }
    let bytes = text.utf8.map { CChar(bitPattern: $0) }
    #expect(redisReaderFeed(reader, bytes, bytes.count) == REDIS_OK)
    var found: UnsafeMutableRawPointer?
    #expect(redisReaderGetReply(reader, &found) == REDIS_OK)
    let reply = try #require(found)
    defer { freeReplyObject(reply) }
    return RedisReply(UnsafePointer(reply.assumingMemoryBound(to: redisReply.self)))
  }

  private static let cases: [(String, RedisReply)] = [
    ("+OK\r\n", .status("OK")), ("-ERR no\r\n", .error("ERR no")), (":-7\r\n", .integer(-7)),
    ("$0\r\n\r\n", .bytes(Data())), ("$3\r\na\0b\r\n", .bytes(Data([0x61, 0, 0x62]))), ("$-1\r\n", .nothing),
    ("*-1\r\n", .nothing), ("*0\r\n", .array([])),
    ("*2\r\n:1\r\n*1\r\n$1\r\nx\r\n", .array([.integer(1), .array([.bytes(Data("x".utf8))])])),
  ]

  @Test(arguments: cases) func `each reply type is parsed`(_ bytes: String, _ reply: RedisReply) throws {
    #expect(try read(bytes) == reply)
  }

  @Test func `invalid structures do not trap`() {
    var reply = redisReply()
    for type in Int32(-1)...20 {
      reply.type = type
      for count in [0, 1, .max] as [Int] {
        (reply.len, reply.elements) = (.init(count), .init(count))
        let copy = withUnsafePointer(to: reply) { RedisReply($0) }
        #expect(copy.list.isEmpty && (copy.data ?? Data()).isEmpty)
      }
    }
    (reply.type, reply.elements) = (REDIS_REPLY_ARRAY, .max)
    #expect(withUnsafePointer(to: reply) { RedisReply($0) } == .odd)
  }

  /// Found by a fuzzer: memory for all elements was allocated before the first one arrived.
  @Test(arguments: [
    ("*65536\r\n:1\r\n", REDIS_OK), ("*65537\r\n", REDIS_ERR), ("*2147483647\r\n", REDIS_ERR),
    ("*3\r\n*65533\r\n", REDIS_OK), ("*3\r\n*65534\r\n", REDIS_ERR), ("*30000\r\n*30000\r\n*30000\r\n", REDIS_ERR),
    (String(repeating: "*1\r\n", count: 20), REDIS_ERR),
    ("*2\r\n$40\r\n\(String(repeating: "x", count: 40))\r\n$60\r\n\(String(repeating: "x", count: 60))\r\n", REDIS_ERR),
    ("+\(String(repeating: "x", count: 100))\r\n", REDIS_ERR), ("$99\r\n", REDIS_OK),
  ])
  func `reply size is limited`(_ text: String, _ outcome: Int32) throws {
    let reader = try #require(redisReaderCreate())
    var limits = errand_redis_limits()
    withUnsafeMutablePointer(to: &limits) { limits in
      errand_redis_bind(reader, limits, 99)
      let bytes = text.utf8.map { CChar(bitPattern: $0) }
      #expect(redisReaderFeed(reader, bytes, bytes.count) == REDIS_OK)
      var found: UnsafeMutableRawPointer?
      #expect(redisReaderGetReply(reader, &found) == outcome)
      #expect(found == nil)
      redisReaderFree(reader)
    }
  }

  @Test func `limits restart with each reply`() throws {
    let reader = try #require(redisReaderCreate())
    var limits = errand_redis_limits()
    withUnsafeMutablePointer(to: &limits) { limits in
      errand_redis_bind(reader, limits, 99)
      let bytes = "*2\r\n$3\r\nabc\r\n$60\r\n\(String(repeating: "x", count: 60))\r\n".utf8.map {
        CChar(bitPattern: $0)
      }
      for _ in 0..<100 {
        #expect(redisReaderFeed(reader, bytes, bytes.count) == REDIS_OK)
        var found: UnsafeMutableRawPointer?
        #expect(redisReaderGetReply(reader, &found) == REDIS_OK)
        if let found { freeReplyObject(found) }
      }
      redisReaderFree(reader)
    }
  }

  @Test func `command is length-prefixed`() {
    let bytes = RedisCall.encode([Data("SET".utf8), Data(), Data([0, 13, 10])])
    #expect(bytes == Array("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\n\0\r\n\r\n".utf8))
  }

  @Test(arguments: [
    ["salt"], ["salt", "short"], ["other", String(repeating: "a", count: 64)],
    ["salt", String(repeating: "+", count: 64)], ["salt", String(repeating: "ä", count: 32)],
  ])
  func `other replies are not a salt`(_ words: [String]) {
    #expect(RedisReply.array(words.map { .bytes(Data($0.utf8)) }).salt == nil)
  }

  @Test func `digest parses its hexadecimal form`() {
    let digest = Digest(words: (0, 1, .max, 0x0123_4567_89AB_CDEF))
    #expect(Digest(hex: digest.hex) == digest)
  }

  @Test func `checksum decodes from its bytes`() {
    let checksum = BodyChecksum(Data("body".utf8))
    #expect(BodyChecksum(encoded: checksum.encoded) == checksum)
    #expect(checksum != BodyChecksum(Data("bodx".utf8)))
    #expect(BodyChecksum(encoded: Data(count: 15)) == nil)
    #expect(BodyChecksum(encoded: Data(repeating: 0xFF, count: 16)) == nil)
  }
}
