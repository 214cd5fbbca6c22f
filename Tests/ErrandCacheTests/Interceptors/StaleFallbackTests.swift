import Errand
import ErrandCore
import ErrandHTTP
import ErrandTesting
import Testing

@testable import ErrandCache

/// A stored response that may replace a failure, and the attempts that the call makes before.
struct StaleFallbackTests {
  private static let fields: HTTPFields = ["Cache-Control": "max-age=60, stale-if-error=600"]

  /// A client with retries, which has stored the first response. The second response of its server is a failure.
  /// - Parameter age: The age of the stored response in seconds.
  private func fixture(age: Int, failure: ScriptedAnswer) async throws -> CacheFixture {
    let change: (inout ClientConfiguration) -> Void = {
      $0.retries = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
    }
    let fixture = CacheFixture(change: change) { _, number in
      number == 2 ? failure : .page("answer \(number)", Self.fields)
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(age)
    return fixture
  }

  @Test(arguments: [503, nil]) func `usable response prevents a retry`(status: Int?) async throws {
    let failure = status.map { ScriptedAnswer.status($0) } ?? .failure(.reset)
    let fixture = try await fixture(age: 61, failure: failure)
    #expect(try await fixture.client.send(Page.http()) == "answer 1")
    #expect(fixture.asked == 2)
  }

  @Test(arguments: [503, nil]) func `outdated response prevents no retry`(status: Int?) async throws {
    let failure = status.map { ScriptedAnswer.status($0) } ?? .failure(.reset)
    let fixture = try await fixture(age: 661, failure: failure)
    #expect(try await fixture.client.send(Page.http()) == "answer 3")
    #expect(fixture.asked == 3)
  }

  @Test(arguments: [408, 429]) func `unreplaced status is retried`(status: Int) async throws {
    let fixture = try await fixture(age: 61, failure: .status(status))
    #expect(try await fixture.client.send(Page.http()) == "answer 3")
    #expect(fixture.asked == 3)
  }

  @Test func `outdated response shortens no exchange`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { _, number in
      if number > 1 { try await latch.wait() }
      return .page("answer \(number)", Self.fields)
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(661)
    let client = fixture.client
    async let outcome = client.outcome(of: Page.http())
    await latch.reached()
    fixture.clock.advance(by: .milliseconds(119_950))
    latch.open()
    #expect(await outcome.value == "answer 2")
  }

  @Test func `range outside the body keeps its time`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { _, number in
      if number > 1 { try await latch.wait() }
      return .page("answer \(number)", Self.fields)
    }
    _ = try await fixture.client.send(Page.http())
    let (client, page) = (fixture.client, Page.http(headers: ["Range": "bytes=100-"]))
    async let outcome = client.outcome(of: page, options: .cache(.networkElseCached))
    await latch.reached()
    fixture.clock.advance(by: .milliseconds(119_950))
    latch.open()
    #expect(await outcome.value == "answer 2")
  }
}
