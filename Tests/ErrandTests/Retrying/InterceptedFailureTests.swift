import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// A transport failure that passes through an exchange interceptor is still a transport failure.
struct InterceptedFailureTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var retries: RetryPolicy = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
  }

  private static let signing = Signing { $0.fields["X-Signature"] = "signed" }

  @Test func `signed call is retried`() async {
    let seen = Recorded<String?>()
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.exchangeInterceptors = [Self.signing]
    configuration.transport = .own(
      ScriptedTransport { request in
        seen.append(request.fields["X-Signature"])
        return seen.count == 1 ? .failure(.reset, "The connection was reset.") : .text("ok")
      })
    let outcome = await APIClient(configuration).outcome(of: Get())
    #expect(outcome.value == "ok" && seen.all == ["signed", "signed"])
    #expect(outcome.metrics.retries.count == 1)
  }

  @Test func `signed call fails over`() async throws {
    let (first, second) = (try LoopbackServer { _ in .ok("first") }, try LoopbackServer { _ in .ok("second") })
    var configuration = ClientConfiguration(baseURL: first.url)
    configuration.environment.fallbackURLs = [second.url]
    configuration.exchangeInterceptors = [Self.signing]
    first.stop()
    let outcome = await APIClient(configuration).outcome(of: Get(retries: .none))
    #expect(outcome.value == "second", "\(outcome.error?.message ?? "")")
  }

  @Test func `signed download is resumed`() async throws {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.exchangeInterceptors = [Self.signing]
    let fixture = try DownloadFixture(configuration: configuration) { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
    }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(fixture.ranges == [nil, "bytes=1000000-"])
  }
}
