import Errand
import Foundation
import Testing

@testable import ErrandCommand

struct ProgressLineTests {
  private static let mib: Int64 = 1 << 20

  private static func film(_ change: (inout ProgressState) -> Void = { _ in }) -> ProgressState {
    var state = ProgressState(name: "film.mkv", bytes: 460 * mib, total: 1_024 * mib)
    state.rate = 83.25 * 1_048_576
    state.timeLeft = .milliseconds(6_100)
    change(&state)
    return state
  }

  private static let lines: [(Int, String)] = [
    (
      120,
      "film.mkv  [=================>                      ]"
        + "   44 %   460.0 MiB of 1024.0 MiB    83.2 MiB/s   0:07 left"
    ),
    (90, "film.mkv  [========>          ]   44 %   460.0 MiB of 1024.0 MiB    83.2 MiB/s   0:07 left"),
    (79, "film.mkv  [=========>            ]   44 %   460.0 MiB    83.2 MiB/s   0:07 left"),
    (60, "film.mkv   44 %   460.0 MiB    83.2 MiB/s   0:07 left"),
    (50, "film.mkv   44 %    83.2 MiB/s   0:07 left"),
    (40, "film.mkv   44 %   0:07 left"),
    (20, "film.mkv   44 %"), (12, "film…v  44 %"), (8, "f…  44 %"), (5, "fil…v"), (1, "…"),
  ]

  @Test(arguments: lines) func `a line fits its terminal`(columns: Int, line: String) {
    let text = ProgressLine(columns: columns, nameColumns: 8).text(Self.film())
    #expect(TextLayout.width(text) <= columns)
    #expect(text == line)
  }

  @Test(arguments: 1...130) func `no line is too wide`(columns: Int) {
    var states = [Self.film(), Self.film { $0.total = nil }, Self.film { $0.name = "电影电影电影电影电影电影电影.mkv" }]
    states.append(Self.film { $0.name = String(repeating: "👩‍👩‍👧x", count: 40) })
    states.append(Self.film { ($0.bytes, $0.total, $0.rate) = (.max, .max, .infinity) })
    states.append(Self.film { $0.timeLeft = .seconds(Int64.max) })
    states.append(Self.film { $0.phase = .failed(String(repeating: "硬盘满了 ", count: 40)) })
    states += [.waiting, .done, .stopped("12 MiB kept")].map { phase in Self.film { $0.phase = phase } }
    for state in states {
      let text = ProgressLine(columns: columns).text(state)
      #expect(TextLayout.width(text) <= columns, "\(state)")
      #expect(!text.isEmpty)
    }
  }

  @Test func `numbers keep their columns`() {
    let line = ProgressLine(columns: 120)
    let places = [0, 9, 99, 460, 1_023].map { count in
      line.text(
        Self.film {
          $0.bytes = Int64(count) * Self.mib
          $0.rate = Double(count) * 1_000
          $0.timeLeft = .seconds(count)
        }
      ).firstIndex(of: "]").map(\.self)
    }
    #expect(Set(places).count == 1 && places.first != nil)
  }

  @Test func `an unknown total has no bar`() {
    let text = ProgressLine(columns: 80).text(
      Self.film {
        $0.total = nil
        $0.timeLeft = nil
      })
    #expect(text == "film.mkv               460.0 MiB    83.2 MiB/s")
  }

  @Test(arguments: [
    (ProgressState.Phase.waiting, "film.mkv              waiting"),
    (.done, "film.mkv              done, 460.0 MiB in 12.31 s, 83.2 MiB/s"),
    (.stopped("460.0 MiB kept"), "film.mkv              460.0 MiB kept"),
    (.failed("the disk\nis full"), "film.mkv              the disk␊is full"),
  ])
  func `other phases have their text`(phase: ProgressState.Phase, line: String) {
    let state = Self.film {
      $0.phase = phase
      $0.elapsed = .milliseconds(12_310)
    }
    #expect(ProgressLine(columns: 80).text(state) == line)
  }

  @Test(
    arguments: [
      (0, 1_000, 0), (1, 1_000, 0), (10, 1_000, 1), (999, 1_000, 99), (1_000, 1_000, 99), (2_000, 1_000, 99),
      (-5, 1_000, 0), (5, 0, 0), (.max, .max, 99), (.max - 1, 1, 99), (0, -1, 0),
    ] as [(Int64, Int64, Int)])
  func `100 % appears only at the end`(bytes: Int64, total: Int64, percent: Int) {
    var state = ProgressState(name: "x", bytes: bytes, total: total)
    #expect(state.percent == percent)
    state.phase = .done
    #expect(state.percent == 100)
    state.total = nil
    #expect(state.percent == 100)
  }

  @Test func `names cannot move the cursor`() {
    let line = ProgressLine(columns: 200, nameColumns: 40)
    let text = line.text(Self.film { $0.name = "a\u{1B}[2J\r\n\u{202E}gpj.\u{2028}" })
    #expect(text.hasPrefix(#"a␛[2J␍␊\u{202e}gpj.\u{2028}"#))
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x202A...0x202E).contains($0.value) })
  }

  @Test func `colours surround only their parts`() {
    let line = ProgressLine(columns: 80, paint: Paint(isOn: true))
    #expect(line.text(Self.film { $0.phase = .failed("no") }).hasSuffix("\u{1B}[31mno\u{1B}[0m"))
    #expect(line.text(Self.film { $0.name = "x" }).hasPrefix("x "))
  }

  @Test(arguments: [
    ("short", 5, "short"), ("longer", 5, "lon…r"), ("document.pdf", 10, "docume…pdf"), ("电影电影", 5, "电影…"),
    ("电影电影", 7, "电影…影"),
    ("电影电影", 4, "电…"), ("电影", 2, "…"), ("abc", 1, "…"), ("abc", 0, ""), ("", 0, ""), ("ab", -3, ""),
  ])
  func `text is shortened in the middle`(text: String, columns: Int, short: String) {
    #expect(TextLayout.shortened(text, to: columns) == short)
    #expect(TextLayout.width(short) <= max(0, columns))
  }

  @Test(
    arguments: [
      (.zero, "0:00"), (.milliseconds(1), "0:01"), (.seconds(59), "0:59"), (.milliseconds(59_001), "1:00"),
      (.seconds(3_599), "59:59"), (.seconds(11_100), "3:05:00"), (.seconds(-5), "0:00"),
      (.seconds(360_000), "over 99 h"),
      (.seconds(Int64.max), "over 99 h"),
    ] as [(Duration, String)])
  func `remaining times are shown as clocks`(duration: Duration, words: String) {
    #expect(Wording.clock(duration) == words)
  }

  @Test(
    arguments: [
      (0, "0 bytes/s"), (1, "1 byte/s"), (1_536, "1.5 KiB/s"), (5_242_880.4, "5.0 MiB/s"), (-1, "0 bytes/s"),
      (.nan, "0 bytes/s"), (.infinity, "953674316.4 MiB/s"),
    ] as [(Double, String)])
  func `rates are formatted`(rate: Double, words: String) {
    #expect(Wording.rate(rate) == words)
  }
}
