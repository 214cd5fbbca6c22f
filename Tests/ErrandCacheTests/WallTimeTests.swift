import ErrandCache
import Testing

struct WallTimeTests {
  @Test func `arithmetic saturates at both ends`() {
    let late = WallTime(milliseconds: .max - 1)
    #expect(late.advanced(byMilliseconds: 5).milliseconds == .max)
    #expect(WallTime(milliseconds: .min).advanced(byMilliseconds: -1).milliseconds == .min)
    #expect(WallTime(milliseconds: .min).milliseconds(to: late) == .max)
    #expect(late.milliseconds(to: WallTime(milliseconds: .min)) == .min)
  }

  @Test func `current time is after 2020`() {
    #expect(WallTime.now > WallTime(milliseconds: 1_577_836_800_000))
  }
}
