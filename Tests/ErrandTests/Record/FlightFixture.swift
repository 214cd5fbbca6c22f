import Errand
@testable import ErrandCache
@testable import ErrandCore
import ErrandTesting
import Foundation

/// A client that records its calls, with a scripted server and clocks that the test sets.
final class FlightFixture: Sendable {
  struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/page"
    var method = HTTPMethod.get
    var body: RequestBody?
    var headers = RequestHeaders()
    var cache = CachePolicy.none
    var joining = JoinRule.never
    var retries: RetryPolicy = .inherited
    var redirects: RedirectPolicy = .inherited
    var credential = RequestCredential.inherited
    var overlap: Overlap { Overlap(joining: joining) }
  }

  let clock = ManualClock()
  let wall = Recorded([WallTime(milliseconds: 1_700_000_000_000)])
  let client: APIClient

  /// - Parameter answer: Receives the request and its number, starting with 1.
  init(
    _ change: (inout ClientConfiguration) -> Void = { _ in },
    answer: @escaping @Sendable (HTTPRequest, Int) async throws -> ScriptedAnswer
  ) {
    let counter = Recorded<Int>()
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { request in
        counter.append(1)
        return try await answer(request, counter.all.count)
      })
    configuration.timers = clock
    configuration.cache.store = .own(
      ResponseCache(store: MemoryStore(), wallClock: { [wall] in wall.all.last ?? WallTime(milliseconds: 0) }))
    configuration.record = .ring(calls: 10)
    change(&configuration)
    client = APIClient(configuration)
  }

  /// Sends a request and returns the decisions of its call.
  func why(_ request: Get = Get(), options: CallOptions = CallOptions()) async -> [String] {
    _ = await client.outcome(of: request, options: options)
    return client.flightRecord.decisions
  }

  /// Advances both clocks.
  func pass(_ seconds: Int64) {
    clock.advance(by: .seconds(seconds))
    if let now = wall.all.last { wall.append(now.advanced(byMilliseconds: seconds * 1_000)) }
  }
}

extension FlightRecord {
  /// The decisions of the last call as sentences, without those about the transport.
  var decisions: [String] {
    calls.last?.decisions.filter { if case .sent = $0.decision { false } else { true } }.map { "\($0.decision)" } ?? []
  }
}
