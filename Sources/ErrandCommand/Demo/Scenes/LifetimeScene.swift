import Errand
import ErrandCache
import ErrandSupport
import ErrandTesting

struct LifetimeScene: DemoScene {
  let title = "User info, cached for three minutes: the server's counter does not change"
  let source = SceneSource()

  // shown: begin
  struct GetUserInfo: APIRequest {
    let id: Int
    var path: Path { "/users/\(id)/info" }
    var cache: CachePolicy { .lifetime(.seconds(180), version: 1) }
    struct Response: Decodable, Sendable { let nick: String; let counter: Int }
  }
  // shown: end

  private let counter = TurnCounter()

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    .json(#"{"nick": "ada", "counter": \#(counter.next())}"#)
  }

  @MainActor func play(on stage: Stage) async throws {
    counter.reset()
    let client = stage.client
    let clock = DemoClock()
    client.configure { $0.cache.store = .own(ResponseCache(store: MemoryStore()) { clock.now }) }
    // shown: begin
    let info = GetUserInfo(id: 7)
    let first = try await client.response(info)
    let second = try await client.response(info)
    clock.advance(by: .seconds(120))
    let third = try await client.response(info)
    clock.advance(by: .seconds(61))
    let fourth = try await client.response(info)
    let fifth = try await client.response(info, options: .cache(.ignoringCache))
    // shown: end

    for request in stage.requests() { stage.showSent(request) }
    let answers = [
      ("1st", first), ("2nd", second), ("120 s later", third), ("61 s later", fourth), ("without the cache", fifth),
    ]
    for (when, answer) in answers {
      let reason = answer.metrics.cache?.reason ?? "no cache report"
      stage.showReceived("\(when): counter \(answer.value.counter). \(reason)")
    }
    check([first, second, third, fourth, fifth], on: stage)
  }

  @MainActor private func check(_ answers: [APIResponse<GetUserInfo.Response>], on stage: Stage) {
    stage.expect("three of the five calls reached the server", stage.requests().count == 3 && counter.value == 3)
    stage.expect(
      "the server's counter did not change for three minutes", answers.map(\.value.counter) == [1, 1, 1, 2, 3])
    stage.expect(
      "each response states its origin",
      answers.map(\.origin) == [.network, .cacheFresh, .cacheFresh, .network, .network])
    stage.expect(
      "a response from the cache has its status and its age", answers[2].status == 200 && Self.age(answers[2]) >= 120)
  }

  private static func age(_ answer: APIResponse<GetUserInfo.Response>) -> Int {
    answer.fields["Age"].flatMap { Int($0) } ?? -1
  }
}

/// A wall clock for a cache. The clock can be set forward, so that the scene of the demo need not wait.
final class DemoClock: Sendable {
  private let ahead = Locked(Duration.zero)

  /// The current time, plus the duration by which this clock was set forward.
  var now: WallTime {
    let milliseconds = ahead.withLock { $0 } / .milliseconds(1)
    return WallTime.now.advanced(byMilliseconds: Int64(milliseconds))
  }

  func advance(by distance: Duration) { ahead.withLock { $0 += distance } }
}
