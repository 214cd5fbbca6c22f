@testable import ErrandHTTP
import Testing

/// The values of `Retry-After` that give a delay, and those that do not.
struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT
  private static let now: Int64 = 784_111_777_000

  @Test(
    arguments: [
      ("0", 0), ("1", 1), ("120", 120), ("0007", 7), ("99999999999999999999999", 1 << 31),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:51:37 GMT", 120),
      ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:49:38 1994", 1),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 1 << 31),
    ])
  func `seconds and dates are parsed`(text: String, seconds: Int64) {
    #expect(RetryAfter.delay(in: ["Retry-After": text], now: Self.now) == .seconds(seconds))
  }

  @Test(
    arguments: [
      "", " ", "-1", "+5", "1.5", "1e3", "5 s", "0x10", "١٢", "soon", "NaN", "Sun, 06 Nov 1994 08:49:36 GMT",
      "Sun, 36 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sat, 01 Jan 0000 00:00:00 GMT",
    ])
  func `invalid and past values give nothing`(text: String) {
    #expect(RetryAfter.delay(in: ["Retry-After": text], now: Self.now) == nil)
  }

  @Test func `missing field gives no delay`() {
    #expect(RetryAfter.delay(in: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"], now: Self.now) == nil)
  }

  @Test func `date is relative to response Date`() {
    let fields: HTTPFields = [
      "Date": "Sun, 06 Nov 1994 10:00:00 GMT", "Retry-After": "Sun, 06 Nov 1994 10:00:30 GMT",
    ]
    #expect(RetryAfter.delay(in: fields, now: Self.now) == .seconds(30), "the server's clock may be wrong")
  }

  @Test func `unreadable response Date is ignored`() {
    let fields: HTTPFields = ["Date": "today", "Retry-After": "Sun, 06 Nov 1994 08:50:07 GMT"]
    #expect(RetryAfter.delay(in: fields, now: Self.now) == .seconds(30))
  }

  @Test func `longest of several values is used`() {
    let fields: HTTPFields = ["Retry-After": "5", "retry-after": "never", "RETRY-AFTER": "9"]
    #expect(RetryAfter.delay(in: fields, now: Self.now) == .seconds(9))
  }
}
