import Errand
import ErrandCore
import ErrandHTTP
import Foundation
import Testing

@testable import ErrandCommand

struct WordingTests {
  @Test(
    arguments: [
      (.zero, "0.00 ms"), (.microseconds(7), "0.00 ms"), (.microseconds(420), "0.42 ms"),
      (.microseconds(1_049), "1.0 ms"), (.milliseconds(301), "301.0 ms"), (.milliseconds(1_240), "1.24 s"),
      (.seconds(75), "75.00 s"), (.microseconds(-30), "-0.03 ms"), (.seconds(-5), "-5.00 s"),
    ] as [(Duration, String)])
  func `durations are formatted`(duration: Duration, words: String) {
    #expect(Wording.duration(duration) == words)
  }

  @Test(
    arguments: [
      (0, "0 bytes"), (1, "1 byte"), (1_023, "1023 bytes"), (1_024, "1.0 KiB"), (1_536, "1.5 KiB"),
      (5 << 20, "5.0 MiB"), (Int64.max, "8796093022207.9 MiB"),
    ] as [(Int64, String)])
  func `sizes are formatted`(count: Int64, words: String) {
    #expect(Wording.bytes(count) == words)
  }

  @Test func `metrics fit on one line`() {
    var exchange = ExchangeMetrics()
    exchange.firstByte = .milliseconds(2)
    exchange.total = .milliseconds(3)
    exchange.bytesSent = 10
    exchange.bytesReceived = 1
    exchange.isConnectionReused = true
    exchange.remoteAddress = "127.0.0.1"
    var metrics = CallMetrics()
    metrics.total = .milliseconds(3)
    metrics.redirects = 1
    metrics.exchanges = [exchange]
    #expect(
      Wording.metrics(metrics)
        == "3.0 ms in total · first byte 2.0 ms · ended 3.0 ms · 10 bytes sent, 1 byte received · 1 redirect"
        + " · connection reused to 127.0.0.1")
    metrics.exchanges[0].remotePort = 8_080
    #expect(Wording.metrics(metrics).hasSuffix(" · connection reused to 127.0.0.1 port 8080"))
    #expect(Wording.metrics(CallMetrics()) == "0.00 ms in total · 0 bytes sent, 0 bytes received")
  }

  @Test(arguments: [
    ("short", 10, ["short"]), ("one two three", 8, ["one two", "  three"]), ("  keep it", 7, ["  keep", "  it"]),
    ("abcdefghijkl", 5, ["abcde", "  fgh", "  ijk", "  l"]), ("李雷李雷", 4, ["李雷", "  李", "  雷"]), ("", 5, [""]),
  ])
  func `lines are broken at spaces`(text: String, columns: Int, lines: [String]) {
    #expect(TextLayout.wrapped(text, to: columns, indent: "  ") == lines)
  }

  @Test func `control characters are made visible`() {
    #expect(PlainText.visible("a\u{1B}[31m\r\n\tb\u{0}") == "a␛[31m␍␊␉b␀")
    #expect(PlainText.visible("a\u{1B}\r\n\tb", keepsLines: true) == "a␛\n\tb")
    #expect(PlainText.visible("Zoë 李 🚀") == "Zoë 李 🚀")
  }

  @Test(arguments: [
    0x061C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2066, 0x2069, 0x206A, 0x206F, 0xFEFF, 0xFFF9,
    0xFFFB, 0xE0001, 0xE0041, 0xE007F,
  ])
  func `hidden scalars are escaped`(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    for keepsLines in [true, false] {
      let escaped = "\\u{\(String(value, radix: 16))}"
      #expect(PlainText.visible("/a\(scalar)gpj.exe", keepsLines: keepsLines) == "/a\(escaped)gpj.exe")
    }
  }

  @Test(arguments: [0x7F, 0x9B, 0x061C, 0x200B, 0x202E, 0xFEFF])
  func `hidden scalars of JSON keep their value`(value: UInt32) throws {
    let text = "[\n\t\"a\(try #require(Unicode.Scalar(value)))b\u{200D}🚀\"\n]"
    let shown = PlainText.visibleJSON(text, keepsLines: true)
    #expect(shown == "[\n\t\"a\\u\(String(0x10000 + value, radix: 16).dropFirst())b\u{200D}🚀\"\n]")
    #expect(try JSONValue(parsing: Data(shown.utf8)) == JSONValue(parsing: Data(text.utf8)))
    #expect(PlainText.visibleJSON("a\n") == "a\\u000a")
    #expect(PlainText.visibleJSON("\u{E0041}") == "\\udb40\\udc41")
  }

  @Test func `joined emoji stay visible`() {
    #expect(PlainText.visible("👩\u{200D}🚀 می\u{200C}خواهم") == "👩\u{200D}🚀 می\u{200C}خواهم")
  }

  @Test func `colours follow the environment`() {
    #expect(Terminal.wantsColour([:]) && Terminal.wantsColour(["NO_COLOR": "", "TERM": "xterm"]))
    #expect(!Terminal.wantsColour(["NO_COLOR": "1"]) && !Terminal.wantsColour(["TERM": "dumb"]))
    #expect(Paint.plain(.red, "x") == "x" && Paint(isOn: true)(.red, "x") == "\u{1B}[31mx\u{1B}[0m")
  }
}
