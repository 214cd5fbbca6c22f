import ErrandCache
import ErrandCore
import StoreSamples
import Testing

/// The age and the state of a listed entry.
struct CacheListingTests {
  private let now = WallTime(milliseconds: 1_700_000_000_000)

  /// A listing whose response arrived at the given time.
  private func listing(came: WallTime, _ policy: CachePolicy, control: String? = nil) -> CacheListing {
    let fields = HTTPFields(control.map { [HTTPField(.cacheControl, $0)] } ?? [])
    let head = CacheEntryHead(
      variant: Sample.digest("variant"), answer: ResponseHead(status: 200, fields: fields), requestTime: came,
      responseTime: came, policy: policy,
      label: CacheEntryLabel(method: "GET", url: "https://h.example/", host: "h.example", tag: nil))
    return CacheListing(head: head, key: Sample.key("/"), bodyLength: 0, lastUse: came)
  }

  @Test(
    arguments: [
      (12, .lifetime(.seconds(180)), nil, .fresh(.seconds(168))),
      (200, .lifetime(.seconds(180)), nil, .stale(.seconds(20))),
      (12, .lifetime(.seconds(180)), "no-cache", .fresh(.seconds(168))),
      (12, .http, "max-age=60", .fresh(.seconds(48))), (72, .http, "max-age=60", .stale(.seconds(12))),
      (0, .http, nil, .stale(.zero)), (1, .http, "no-cache, max-age=60", .asks), (-5, .http, "max-age=60", .unknown),
      (12, .httpElse(.seconds(60)), nil, .fresh(.seconds(48))),
    ] as [(Int64, CachePolicy, String?, CacheEntryState)])
  func `state follows the policy`(age: Int64, policy: CachePolicy, control: String?, state: CacheEntryState) {
    let listing = listing(came: now.advanced(byMilliseconds: -age * 1_000), policy, control: control)
    #expect(listing.state(at: now) == state)
    #expect(listing.age(at: now) == (age < 0 ? nil : .seconds(age)))
  }

  /// Tests may set the monotonic clock of a client, so a listing must not depend on it.
  @Test func `state ignores the monotonic clock`() {
    let listing = listing(came: .now, .lifetime(.seconds(60)))
    var head = listing.head
    head.received = MonotonicInstant(nanoseconds: 1)
    let other = CacheListing(head: head, key: listing.key, bodyLength: 0, lastUse: .now)
    #expect(other.state.isFresh)
  }

  @Test func `age and state use current time`() throws {
    let old = listing(came: WallTime.now.advanced(byMilliseconds: -3_600_000), .lifetime(.seconds(60)))
    #expect(try #require(old.age) >= .seconds(3_600))
    #expect(!old.state.isFresh)
    #expect(listing(came: .now, .lifetime(.seconds(86_400))).state.isFresh)
    #expect(listing(came: WallTime.now.advanced(byMilliseconds: 3_600_000), .http).age == nil)
  }
}
