import Errand
import ErrandCache
import Testing

@testable import ErrandCommand

struct EntryTableTests {
  private let now = WallTime(milliseconds: 1_700_000_000_000)

  /// A response that was received some seconds ago.
  private func listing(
    age: Int64, _ policy: CachePolicy = .http, control: String? = nil, url: String = "http://h.example/",
    tag: String? = nil
  ) -> CacheListing {
    let nothing = Digest(words: (0, 0, 0, 0))
    let came = now.advanced(byMilliseconds: -age * 1_000)
    let fields = HTTPFields(control.map { [HTTPField(.cacheControl, $0)] } ?? [])
    let head = CacheEntryHead(
      variant: nothing, answer: ResponseHead(status: 200, fields: fields), requestTime: came, responseTime: came,
      policy: policy, label: CacheEntryLabel(method: "GET", url: url, host: "h.example", tag: tag))
    let key = CacheKey(entry: nothing, anyAccount: nothing, target: nothing, account: nothing)
    return CacheListing(head: head, key: key, bodyLength: 1_536, lastUse: came)
  }

  @Test func `columns are aligned`() {
    let table = EntryTable(paint: .plain, now: now)
    let text = table.text([
      listing(age: 12, .lifetime(.seconds(180)), tag: "feed"),
      listing(age: 7_265, control: "max-age=60", url: "http://h.example/李\u{1B}"),
    ])
    #expect(
      text == """
        age    state             size     status  method  url                   tag
        12s    fresh for 2m 48s  1.5 KiB  200     GET     http://h.example/     feed
        2h 1m  stale for 2h      1.5 KiB  200     GET     http://h.example/李␛

        """)
    #expect(!table.text([listing(age: 1)]).contains("tag"))
  }

  @Test(arguments: [
    (0, "0s"), (59, "59s"), (60, "1m"), (168, "2m 48s"), (3_599, "59m 59s"), (7_265, "2h 1m"), (86_400, "1d"),
    (90_000, "1d 1h"), (31_536_000, "365d"),
  ])
  func `durations use two units`(seconds: Int64, words: String) {
    #expect(Wording.span(seconds: seconds) == words)
  }

  @Test func `the summary counts by host`() {
    let listings = [listing(age: 1, control: "max-age=60"), listing(age: 90, control: "max-age=60")]
    let text = StoreSummary(listings: listings, bytesOnDisk: 73_728, now: now).text(.plain)
    #expect(
      text == """
        entries  2: 1 fresh, 1 not
        bodies   3.0 KiB
        on disk  72.0 KiB, with the index
        limit    100.0 MiB for “errand send”; a program sets its own
        hosts    h.example: 2 entries

        """)
  }
}
