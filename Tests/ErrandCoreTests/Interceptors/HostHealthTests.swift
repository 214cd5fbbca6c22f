@testable import ErrandCore
import Testing

/// The order in which servers are tried.
struct HostHealthTests {
  private let origins = ["http://a", "http://b", "http://c"].compactMap { try? HTTPURL($0).origin }
  private func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

  /// Records a failure of an attempt that failed at once.
  private func fail(_ place: Int, at second: Int64, _ health: inout HostHealth) {
    health.fail(origins[place], since: at(second), at(second))
  }

  @Test func `healthy servers keep configured order`() {
    var health = HostHealth()
    let order = health.order(origins, at(0))
    #expect(order == [0, 1, 2] && health.isHealthy)
  }

  @Test func `failed servers are tried last`() {
    var health = HostHealth()
    fail(0, at: 0, &health)
    fail(1, at: 2, &health)
    let order = health.order(origins, at(3))
    #expect(order == [2, 0, 1])
  }

  @Test func `one call probes a failed server`() {
    var health = HostHealth()
    fail(0, at: 0, &health)
    let (before, first, second) = (
      health.order(origins, at(4)), health.order(origins, at(5)), health.order(origins, at(5))
    )
    #expect(before == [1, 2, 0] && first == [0, 1, 2] && second == [1, 2, 0])
  }

  @Test func `response marks server as healthy`() {
    var health = HostHealth()
    fail(0, at: 0, &health)
    health.recordResponse(from: origins[0])
    #expect(health.isHealthy)
  }

  @Test(arguments: [(1, 5), (2, 10), (3, 20), (6, 160), (7, 300), (1_000, 300)])
  func `pause doubles up to five minutes`(failures: Int, seconds: Int64) {
    var health = HostHealth()
    for second in 0..<failures { fail(0, at: Int64(second), &health) }
    let last = Int64(failures - 1)
    var same = health
    let (before, after) = (health.order(origins, at(last + seconds - 1)), same.order(origins, at(last + seconds)))
    #expect(before.last == 0 && after.first == 0)
  }

  @Test(arguments: [(0, 6), (1, 6), (2, 12)])
  func `earlier attempts do not count again`(begun: Int64, due: Int64) {
    var health = HostHealth()
    health.fail(origins[0], since: at(0), at(1))
    for _ in 0..<6 { health.fail(origins[0], since: at(begun), at(2)) }
    var same = health
    let (before, after) = (health.order(origins, at(due - 1)), same.order(origins, at(due)))
    #expect(before.last == 0 && after.first == 0)
  }

  @Test func `server due earliest is tried first`() {
    var health = HostHealth()
    for (place, second) in [(0, 3), (1, 1), (2, 2)] { fail(place, at: Int64(second), &health) }
    let order = health.order(origins, at(4))
    #expect(order == [1, 2, 0])
  }
}
