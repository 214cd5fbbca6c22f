import ErrandTesting
import Foundation
import Testing

@testable import ErrandCache
import ErrandCore

struct HTTPDateTests {
  static let now = WallTime(milliseconds: 1_760_000_000_000)

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 23:59:60 GMT", 951_868_800),
    ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ("SUN, 06 nOV 1994 08:49:37 gmt", 784_111_777), ("sunday, 06-NOV-94 08:49:37 Gmt", 784_111_777),
    ("sUN nov  6 08:49:37 1994", 784_111_777), ("Wednesday, 09-Oct-75 08:53:20 GMT", 3_337_836_800),
    ("Friday, 01-Jan-76 00:00:00 GMT", 189_302_400), ("Thursday, 09-Oct-75 08:53:21 GMT", 182_076_801),
    ("Wednesday, 31-Dec-75 23:59:59 GMT", 189_302_399), ("Tuesday, 29-Feb-00 00:00:00 GMT", 951_782_400),
  ])
  func `three date forms are parsed`(text: String, seconds: Int64) {
    #expect(HTTPDate.read(text, now: Self.now)?.milliseconds == seconds * 1_000)
  }

  @Test(arguments: [
    "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37 UTC", "Sux, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GM\u{34}", "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
    "Sun 06 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
    "Sun, 06  Nov 1994 08:49:37 GMT", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
    "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT", "Wed, 30 Feb 2000 00:00:00 GMT", "Thu, 29 Feb 2001 00:00:00 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 AEST",
    "Sunday, 6-Nov-94 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
    "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT", "1994-11-06T08:49:37Z",
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, ٠6 Nov 1994 08:49:37 GMT",
  ])
  func `other texts are not dates`(text: String) {
    #expect(HTTPDate.read(text, now: Self.now) == nil)
  }

  @Test(arguments: [
    (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"), (784_111_777_999, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"), (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    (.min, "Sat, 01 Jan 0000 00:00:00 GMT"), (4_107_542_400_000, "Mon, 01 Mar 2100 00:00:00 GMT"),
  ])
  func `preferred date form is written`(milliseconds: Int64, text: String) {
    #expect(HTTPDate.text(WallTime(milliseconds: milliseconds)) == text)
  }

  @Test(
    arguments: [
      (784_111_777.999, "Sun, 06 Nov 1994 08:49:37 GMT"), (-0.001, "Wed, 31 Dec 1969 23:59:59 GMT"),
      (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"), (-.infinity, "Sat, 01 Jan 0000 00:00:00 GMT"),
      (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ] as [(Double, String)])
  func `dates of Foundation are written`(seconds: Double, text: String) {
    #expect(HTTPDate.text(of: Date(timeIntervalSince1970: seconds)) == text)
  }

  @Test func `dates of Foundation are parsed`() {
    #expect(HTTPDate.date(of: "Sun, 06 Nov 1994 08:49:37 GMT") == Date(timeIntervalSince1970: 784_111_777))
    #expect(HTTPDate.date(of: "Sun Nov  6 08:49:37 1994") == Date(timeIntervalSince1970: 784_111_777))
    #expect(HTTPDate.date(of: "1994-11-06T08:49:37Z") == nil)
  }

  @Test func `written dates are parsed`() {
    var random = SeededNumbers(seed: 1)
    for _ in 0..<3_000 {
      let seconds = Int64.random(in: -62_167_219_200...253_402_300_799, using: &random)
      let time = WallTime(milliseconds: seconds * 1_000)
      #expect(HTTPDate.read(HTTPDate.text(time), now: Self.now) == time)
    }
  }

  @Test func `dates from any bytes survive rewriting`() {
    var random = SeededNumbers(seed: 2)
    for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
      for _ in 0..<3_000 {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        let end = Int.random(in: 0...bytes.count, using: &random)
        for text in [String(decoding: bytes, as: UTF8.self), String(decoding: bytes[..<end], as: UTF8.self)] {
          guard let date = HTTPDate.read(text, now: Self.now) else { continue }
          #expect(HTTPDate.read(HTTPDate.text(date), now: Self.now) == date, "\(text)")
        }
      }
    }
  }
}
