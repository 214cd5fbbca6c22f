import Errand
import ErrandTesting
import Testing

/// The warning about a main thread that is too busy to run its deliveries.
struct DeliveryWatchTests {
  @MainActor @Test func `late main actor is logged once`() async {
    let lines = Recorded<LogLine>()
    let fixture = DeliveryFixture {
      $0.log = { lines.append($0) }
      $0.timeouts.total = .never
    }
    fixture.hook.open()
    fixture.exchange.open()
    for round in 0..<2 {
      let ended = Latch()
      let options = CallOptions(accessories: [Noter("x", Recorded(), ended: ended)])
      fixture.client.start(fixture.request, options: options) { _ in }
      holdMain { fixture.clock.pending == 1 }
      fixture.clock.advance(by: .milliseconds(4_999))
      #expect(lines.all.count { $0.level == .warning } == round)
      fixture.clock.advance(by: .milliseconds(1))
      #expect(lines.all.count { $0.level == .warning } == 1)
      await ended.waitStubbornly()
    }
    let warning = lines.all.first { $0.level == .warning }
    #expect(warning?.text.contains("ProbeRequest") == true)
    #expect(warning?.text.contains("main") == true)
    #expect(await fixture.leftovers().isEmpty)
  }

  @MainActor @Test func `prompt delivery leaves no timer`() async {
    let lines = Recorded<LogLine>()
    let fixture = DeliveryFixture { $0.log = { lines.append($0) } }
    fixture.hook.open()
    fixture.exchange.open()
    fixture.client.start(fixture.request, options: fixture.options()) { _ in }
    await fixture.ended.waitStubbornly()
    fixture.clock.advance(by: .seconds(10))
    #expect(!lines.all.contains { $0.level == .warning })
    #expect(await fixture.leftovers().isEmpty)
  }

}
