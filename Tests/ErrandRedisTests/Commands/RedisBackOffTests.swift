import Testing

@testable import ErrandRedis

/// The pauses after failures of Redis.
struct RedisBackOffTests {
  @Test(arguments: [(0, 100), (1, 100), (2, 200), (3, 400), (6, 3_200), (7, 5_000), (.max, 5_000)])
  func `delay doubles up to five seconds`(_ failures: Int, _ milliseconds: Int) {
    #expect(RedisBackOff.delay(failures: failures, spread: 1) == .milliseconds(milliseconds))
    #expect(RedisBackOff.delay(failures: failures, spread: 0) == .milliseconds(milliseconds) / 2)
  }
}
