import CHiredis
import Foundation

/// One connection to Redis. All methods must be called on one thread. No method blocks, with one exception: connecting
/// may block while the host name is resolved.
final class RedisConnection {
  private let context: UnsafeMutablePointer<redisContext>
  private let mostBytes: Int
  // The limits for replies are allocated separately, because hiredis keeps a pointer to them.
  private let limits: UnsafeMutablePointer<errand_redis_limits>
  /// Whether the operating system has accepted all bytes of the commands, so that further commands can be sent.
  private(set) var hasRoom = true

  /// Starts to connect. Nil if the attempt fails immediately.
  /// - Parameter mostBytes: The maximum length of a reply in bytes.
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

  /// Adds a command to the output buffer. Returns false if there is not enough memory.
  func add(_ command: [UInt8]) -> Bool {
    hasRoom = false
    return command.withUnsafeBytes { bytes in
      guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return true }
      return redisAppendFormattedCommand(context, start, bytes.count) == REDIS_OK
    }
  }

  /// Sends as many bytes as the connection accepts. Returns false if the connection is lost.
  func write() -> Bool {
    var done: Int32 = 0
    guard redisBufferWrite(context, &done) == REDIS_OK else { return false }
    hasRoom = done == 1
    return true
  }

  /// Reads the available bytes. Returns false if the connection is lost or a reply is too long.
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

  /// The next complete reply; nil if no complete reply has arrived. Throws if the bytes are not valid replies.
  func reply() throws(RedisProtocolFailure) -> RedisReply? {
    var found: UnsafeMutableRawPointer?
    guard let reader = context.pointee.reader, redisReaderGetReply(reader, &found) == REDIS_OK else {
      throw RedisProtocolFailure()
    }
    guard let found else { return nil }
    defer { freeReplyObject(found) }
    return RedisReply(UnsafePointer(found.assumingMemoryBound(to: redisReply.self)))
  }
}

/// Thrown if the received bytes are not valid Redis protocol.
struct RedisProtocolFailure: Error {}
