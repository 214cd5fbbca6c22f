import Dispatch
import Errand
import ErrandSupport
import ErrandTesting
import Testing

@testable import ErrandCache

/// What an app hands in may call the cache at any time: none of it runs under a lock of the cache.
@Suite(.timeLimit(.minutes(1))) struct ForeignCodeTests {
  /// Asks on another thread, since one that holds the lock itself would wait for ever.
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
      answers.append(isAsked && end.wait(timeout: .now() + 5) == .success)
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

  @Test func `kept values die outside locks`() async throws {
    let question = Question()
    try await Value.$question.withValue(question) {
      let fixture = CacheFixture { _, _ in .json("{}") }
      for _ in 1...2 { _ = try await fixture.client.send(GetValue()) }
      question.set { fixture.cache.removeAll(tag: "none") }
      _ = try await fixture.client.send(GetValue(), options: .cache(.ignoringCache))
      // The one that was kept, and the one that came.
      #expect(question.all == [true, true])
      question.set {}
    }
  }
}
