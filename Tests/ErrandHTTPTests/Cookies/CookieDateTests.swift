import ErrandSupport
import Testing

@testable import ErrandHTTP

/// Cookie dates, by RFC 6265 section 5.1.1.
struct CookieDateTests {
  private static let sample: Int64 = 784_111_777_000  // 1994-11-06 08:49:37

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "6 nov 94 8:49:37", "08:49:37 1994 6 NOVEMBER", "Nov/06/1994/08:49:37", "06;Nov;1994;08:49:37",
    "\t06 Nov 1994 8:49:37",
    "6th Nov 1994AD 08:49:37.125", "06 Nov 0094 08:49:37", "06 Nov 094 08:49:37", "06 Nov 1994 08:49:37 99 Dec 2010",
    "Mon, 06 Nov 1994 08:49:37 -0800", "[06] {Nov} `1994` @08:49:37~",
  ])
  func `loosely formatted dates are parsed`(_ text: String) {
    #expect(CookieDate.milliseconds(of: text) == Self.sample)
  }

  @Test(arguments: [
    "", "GMT", "06 Nov 1994", "06 Nov 08:49:37", "06 1994 08:49:37", "Nov 1994 08:49:37", "00 Nov 1994 08:49:37",
    "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "29 Feb 1995 08:49:37", "06 Nov 1600 08:49:37",
    "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60", "06 Nov 1994 08:49",
    "06 Nov 1994 008:49:37",
    "06 Nov 1994 08:049:37", "06 Nov 1994 08:49:370", "006 Nov 1994 08:49:37", "06 Nov 19945 08:49:37",
    "06 No 1994 08:49:37", "06:Nov:1994 08:49:37", "06 Nov 1 08:49:37", "06 Nov 1994 8h:49:37", "06 Nov 1994 ::",
    "06 Nov 1994 99:99:99 08:49:37", "06 N\u{F6}v 1994 08:49:37",
  ])
  func `other texts are not dates`(_ text: String) {
    #expect(CookieDate.milliseconds(of: text) == nil)
  }

  @Test(arguments: [("69", 2069), ("70", 1970), ("99", 1999), ("00", 2000), ("1601", 1601), ("9999", 9999)])
  func `two-digit years get a century`(text: String, year: Int) throws {
    let day = try #require(CivilDate(year: Int64(year), month: 1, day: 2)).dayNumber
    #expect(CookieDate.milliseconds(of: "2 Jan \(text) 0:0:1") == (day * 86_400 + 1) * 1_000)
  }

  @Test func `leap day is a valid date`() {
    #expect(CookieDate.milliseconds(of: "29 Feb 2000 00:00:00") == 951_782_400_000)
  }
}
