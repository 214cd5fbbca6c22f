import Errand
import ErrandCache
import ErrandSupport
import ErrandTesting

/// An answer that is kept for three minutes.
struct LifetimeScene: DemoScene {
  let title = "User info, kept for three minutes: the server's counter stands still"
  let declared = #"""
    struct GetUserInfo: APIRequest {
      let id: Int
      var path: Path { "/users/\(id)/info" }
      var cache: CachePolicy { .lifetime(.seconds(180), version: 1) }
      struct Response: Decodable, Sendable { let nick: String; let counter: Int }
    }
    let info = GetUserInfo(id: 7)
    let first = try await client.response(info)
    let second = try await client.response(info)
    clock.advance(by: .seconds(120))
    let third = try await client.response(info)
    clock.advance(by: .seconds(61))
    let fourth = try await client.response(info)
    let fifth = try await client.response(info, options: .cache(.ignoringCache))
    """#

  struct GetUserInfo: APIRequest {
    let id: Int
    var path: Path { "/users/\(id)/info" }
    var cache: CachePolicy { .lifetime(.seconds(180), version: 1) }
    struct Response: Decodable, Sendable { let nick: String; let counter: Int }
  }

  private let counter = TurnCounter()

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    .json(#"{"nick": "ada", "counter": \#(counter.next())}"#)
  }

  @MainActor func play(on stage: Stage) async throws {
    counter.reset()
    let client = stage.client
    let clock = DemoClock()
    client.configure { $0.cache = .own(ResponseCache(store: MemoryStore()) { clock.now }) }
    let info = GetUserInfo(id: 7)
    let first = try await client.response(info)
    let second = try await client.response(info)
    clock.advance(by: .seconds(120))
    let third = try await client.response(info)
    clock.advance(by: .seconds(61))
    let fourth = try await client.response(info)
    let fifth = try await client.response(info, options: .cache(.ignoringCache))

    for request in stage.requests() { stage.showSent(request) }
    let answers = [("1st", first), ("2nd", second), ("120 s later", third), ("61 s later", fourth), ("past it", fifth)]
    for (when, answer) in answers {
      let reason = answer.metrics.cache?.reason ?? "no word of the cache"
      stage.showGot("\(when): counter \(answer.value.counter). \(reason)")
    }
    check([first, second, third, fourth, fifth], on: stage)
  }

  @MainActor private func check(_ answers: [APIResponse<GetUserInfo.Response>], on stage: Stage) {
    stage.claim("five calls, three of them reached the server", stage.requests().count == 3 && counter.value == 3)
    stage.claim("its counter stood still for three minutes", answers.map(\.value.counter) == [1, 1, 1, 2, 3])
    stage.claim(
      "each answer says where it came from",
      answers.map(\.origin) == [.network, .cacheFresh, .cacheFresh, .network, .network])
    stage.claim("a stored answer has its status and its age", answers[2].status == 200 && Self.age(answers[2]) >= 120)
  }

  private static func age(_ answer: APIResponse<GetUserInfo.Response>) -> Int {
    answer.fields["Age"].flatMap { Int($0) } ?? -1
  }
}

/// A wall clock for a cache that can be set forward, so that nobody has to wait.
final class DemoClock: Sendable {
  private let ahead = Locked(Duration.zero)

  /// The present, as far ahead as it was set.
  var now: WallTime {
    let milliseconds = ahead.withLock { $0 } / .milliseconds(1)
    return WallTime.now.advanced(byMilliseconds: Int64(milliseconds))
  }

  /// Sets the clock forward.
  func advance(by distance: Duration) { ahead.withLock { $0 += distance } }
}
