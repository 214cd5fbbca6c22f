import Dispatch
import Errand
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import Testing

@testable import ErrandCache

/// Code of the app may call the cache at any time, so it never runs under a lock of the cache.
struct ForeignCodeTests {
  /// Calls the cache on another thread, because a thread that already holds the lock would deadlock.
  private final class Question: Sendable {
    private let ask = Locked<(@Sendable () -> Void)?>(nil)
    private let answers = Recorded<Bool>()
    var all: [Bool] { answers.all }

    func set(_ question: @escaping @Sendable () -> Void) { ask.withLock { $0 = question } }

    func put() {
      guard let ask = ask.withLock({ $0 }) else { return }
      let end = DispatchSemaphore(value: 0)
      let isAsked = DetachedThread.start(named: "question") {
        ask()
        end.signal()
      }
      answers.append(isAsked && end.wait(timeout: .now() + 30) == .success)
    }
  }

  private final class Value: Decodable, Sendable {
    @TaskLocal static var question = Question()
    private let question = Value.question

    init(from decoder: any Decoder) {}
    deinit { question.put() }
  }

  private struct GetValue: APIRequest {
    var path: Path { "/value" }
    var cache: CachePolicy { .lifetime(.seconds(60)) }
    typealias Response = Value
  }

  @Test func `decoded values are released outside locks`() async throws {
    let question = Question()
    try await Value.$question.withValue(question) {
      let fixture = CacheFixture { _, _ in .json("{}") }
      for _ in 1...2 { _ = try await fixture.client.send(GetValue()) }
      question.set { fixture.cache.removeAll(tag: "none") }
      _ = try await fixture.client.send(GetValue(), options: .cache(.ignoringCache))
      // The value that was kept, and the new one.
      #expect(question.all == [true, true])
      question.set {}
    }
  }

  /// A clock that calls the cache whenever it is read.
  private final class AskingClock: Timers {
    let base = ManualClock()
    let question = Question()

    var now: MonotonicInstant {
      question.put()
      return base.now
    }
    func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
      base.schedule(at: instant, action)
    }
    func cancel(_ token: TimerToken) { base.cancel(token) }
  }

  @Test func `refresh reads clocks outside locks`() async throws {
    let clock = AskingClock()
    let fixture = CacheFixture(change: { $0.timers = clock }) { _, number in
      .page("answer \(number)", ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
    }
    _ = try await fixture.client.send(Page.http())
    clock.base.advance(by: .seconds(61))
    fixture.setWall(by: 61)
    clock.question.set { fixture.cache.cancelRefreshes() }
    #expect(try await fixture.client.response(Page.http()).origin == .cacheStale)
    clock.question.set {}
    await fixture.settled()
    #expect(!clock.question.all.contains(false))
  }
}
