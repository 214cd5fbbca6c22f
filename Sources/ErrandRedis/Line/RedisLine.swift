import CHiredis
import Foundation

/// One connection with Redis. Belongs to one thread; nothing here blocks but the look-up of a host's name.
final class RedisLine {
  private let context: UnsafeMutablePointer<redisContext>
  private let mostBytes: Int
  // hiredis keeps its address, so it has memory of its own.
  private let limits: UnsafeMutablePointer<errand_redis_limits>
  /// Whether all that was added has left this process.
  private(set) var hasRoom = true

  /// Begins to connect. Nil where that fails at once.
  /// - Parameter mostBytes: How long a reply may be.
  init?(_ address: RedisAddress, mostBytes: Int) {
    let context =
      switch address {
      case .tcp(let host, let port): redisConnectNonBlock(host, Int32(clamping: port))
      case .unix(let path): redisConnectUnixNonBlock(path)
      }
    guard let context else { return nil }
    guard context.pointee.err == 0 else {
      redisFree(context)
      return nil
    }
    self.context = context
    self.mostBytes = mostBytes
    limits = .allocate(capacity: 1)
    if let reader = context.pointee.reader { errand_redis_bind(reader, limits, max(0, mostBytes)) }
  }

  deinit {
    redisFree(context)
    limits.deallocate()
  }

  var descriptor: Int32 { Int32(context.pointee.fd) }

  /// Adds a command to what is to be sent. False where there is no memory for it.
  func add(_ command: [UInt8]) -> Bool {
    hasRoom = false
    return command.withUnsafeBytes { bytes in
      guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return true }
      return redisAppendFormattedCommand(context, start, bytes.count) == REDIS_OK
    }
  }

  /// Sends what the connection takes. False where it is gone.
  func write() -> Bool {
    var done: Int32 = 0
    guard redisBufferWrite(context, &done) == REDIS_OK else { return false }
    hasRoom = done == 1
    return true
  }

  /// Reads what is there. False where the connection is gone or the reply too long.
  func read() -> Bool {
    for _ in 0..<64 {
      guard let reader = context.pointee.reader else { return false }
      let before = reader.pointee.len
      guard redisBufferRead(context) == REDIS_OK else { return false }
      guard reader.pointee.len <= mostBytes else { return false }
      if reader.pointee.len == before { break }
    }
    return true
  }

  /// The next whole reply; nil where there is none yet. Throws where the bytes are no replies.
  func reply() throws(RedisLineFailure) -> RedisReply? {
    var found: UnsafeMutableRawPointer?
    guard let reader = context.pointee.reader, redisReaderGetReply(reader, &found) == REDIS_OK else {
      throw RedisLineFailure()
    }
    guard let found else { return nil }
    defer { freeReplyObject(found) }
    return RedisReply(UnsafePointer(found.assumingMemoryBound(to: redisReply.self)))
  }
}

/// What came from the other side is no Redis protocol.
struct RedisLineFailure: Error {}
