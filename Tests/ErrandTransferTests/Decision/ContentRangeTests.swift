import Testing

@testable import ErrandTransfer

struct ContentRangeTests {
  @Test(
    arguments: [
      ("bytes 0-9/100", 0..<10, 100), ("bytes 0-9/*", 0..<10, nil), ("Bytes 5-5/6", 5..<6, 6),
      ("BYTES 00-09/010", 0..<10, 10),
      (
        "bytes 9223372036854775805-9223372036854775806/9223372036854775807", 9_223_372_036_854_775_805..<Int64.max, .max
      ),
    ] as [(String, Range<Int64>, Int64?)])
  func `a valid range is parsed`(text: String, range: Range<Int64>, total: Int64?) {
    #expect(ContentRange(text) == .part(range, total: total))
  }

  @Test func `an unsatisfied range is parsed`() {
    #expect(ContentRange("bytes */100") == .unsatisfied(total: 100))
    #expect(ContentRange("bytes */0") == .unsatisfied(total: 0))
  }

  @Test(arguments: [
    "", "bytes", "bytes ", "bytes 0-9", "bytes 0-9/", "bytes /100", "bytes */*", "bytes 0-/100", "bytes -9/100",
    "bytes 9-0/100", "bytes 0-100/100", "bytes 0-9/9", "bytes 0-9/100 ", " bytes 0-9/100", "bytes  0-9/100",
    "bytes=0-9/100", "items 0-9/100", "bytes 0 - 9/100", "bytes 0-9 /100", "bytes 0-9/ 100", "bytes +0-9/100",
    "bytes 0x0-9/100", "bytes 0-9/100/100", "bytes 0-9-10/100", "bytes 0-9,20-29/100", "bytes 0-9/100, bytes 0-9/100",
    "bytes 0-99999999999999999999/*", "bytes 99999999999999999999-1/*", "bytes 0-9/99999999999999999999",
    "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775808/*", "bytes \u{FF10}-9/100", "bytes *-9/100",
    "bytes 0-*/100", "bytes\t0-9/100", "bytes 0-9/\u{0}", "bytes --/-", "bytes */-1", "bytes **/1",
    "bytes 0-9//100", "bytes /0-9/100", "bytes 0-9/100/",
  ])
  func `an invalid Content-Range is rejected`(text: String) { #expect(ContentRange(text) == nil) }

  @Test func `a long text is rejected quickly`() {
    #expect(ContentRange("bytes " + String(repeating: "9", count: 1 << 20)) == nil)
    #expect(ContentRange("bytes " + String(repeating: "-/", count: 1 << 19)) == nil)
  }
}
