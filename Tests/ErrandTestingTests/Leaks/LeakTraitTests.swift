import Errand
import ErrandHTTP
import ErrandTesting
import ErrandTestingTraits
import Testing

@Suite(.checksLeaks) struct LeakTraitTests {
  private final class Holder: Sendable {}

  @Test func `suite trait applies to each test`() async throws {
    #expect(LeakCheck.current != nil)
    let client = APIClient(baseURL: "https://h.example")
    client.configure { $0.transport = .own(ScriptedTransport(.text("ok"))) }
    #expect(await client.outcome(of: ReplayUser(id: 7)).error != nil)
  }

  @Test func `leaked objects fail the test`() async throws {
    let test = try #require(Test.current)
    let kept = Recorded<ScriptedTransport>()
    let holder = Holder()
    try await withKnownIssue {
      try await LeakTrait(patience: .zero).provideScope(for: test, testCase: nil) {
        kept.append(ScriptedTransport(.text("ok")))
        LeakCheck.current?.watch(holder, "holder")
      }
    } matching: { issue in
      issue.comments.contains { "\($0)".contains("Objects still exist after the test: ScriptedTransport, holder.") }
    }
    #expect(kept.count == 1)
    withExtendedLifetime(holder) {}
  }

  @Test func `late release passes`() async throws {
    let leaks = LeakCheck()
    let held = Recorded<Holder>()
    held.append(Holder())
    for holder in held.all { leaks.watch(holder, "holder") }
    _ = SharedTimers.shared.schedule(at: .now.advanced(by: .milliseconds(100))) { _ = held.takeFirst() }
    #expect(await leaks.survivors(turns: 1).isEmpty)
  }

  @Test func `released objects pass`() async throws {
    let test = try #require(Test.current)
    let made = Recorded<Bool>()
    try await LeakTrait.checksLeaks.provideScope(for: test, testCase: nil) {
      let server = try LoopbackServer { _ in .ok() }
      let transport = ProfiledTransport(RecordingTransport(ReplayTransport(Recording())), .edge)
      made.append(transport.capabilities.contains(.bodySink) && server.port > 0)
    }
    #expect(made.all == [true])
  }
}
