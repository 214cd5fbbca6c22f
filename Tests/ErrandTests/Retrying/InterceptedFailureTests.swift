import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// A transport failure that passes through an exchange interceptor is still a transport failure.
struct InterceptedFailureTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var method = HTTPMethod.get
    var retries: RetryPolicy = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
  }

  /// Sends a call of another client before or after the exchange, and throws its error.
  private struct Asking: Interceptor {
    let asksFirst: Bool

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      if asksFirst { try await ask() }
      let response = try await next(request)
      try await ask()
      return response
    }

    private func ask() async throws {
      var configuration = ClientConfiguration(baseURL: "http://keys.example")
      configuration.transport = .own(
        ScriptedTransport { _ in throw TransportFailure(.refused, "No server listens.", isCertainlyNotSent: true) })
      _ = try await APIClient(configuration).send(Get(retries: .none))
    }
  }

  private static let signing = Signing { $0.fields["X-Signature"] = "signed" }

  @Test func `signed call is retried`() async {
    let seen = Recorded<String?>()
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.interceptors.exchanges = [Self.signing]
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
    let (port, second) = (try RefusingPort(), try LoopbackServer { _ in .ok("second") })
    defer { withExtendedLifetime(port) {} }
    var configuration = ClientConfiguration(baseURL: port.url)
    configuration.servers.current.fallbackURLs = [second.url]
    configuration.interceptors.exchanges = [Self.signing]
    let outcome = await APIClient(configuration).outcome(of: Get(retries: .none))
    #expect(outcome.value == "second", "\(outcome.error?.message ?? "")")
  }

  @Test func `signed download is resumed`() async throws {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.interceptors.exchanges = [Self.signing]
    let fixture = try DownloadFixture(configuration: configuration) { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
    }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(fixture.ranges == [nil, "bytes=1000000-"])
  }

  /// Sends a request again in the middle of a download.
  private struct Repeating: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      do { return try await next(request) } catch { return try await next(request) }
    }
  }

  @Test func `two bodies never mix in a file`() async throws {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.interceptors.exchanges = [Repeating()]
    let fixture = try DownloadFixture(configuration: configuration) { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: 1_100_000) }
    }
    let first = await fixture.send().result
    if (try? first.get()) == nil { _ = try await fixture.send().result.get() }
    #expect(fixture.isRight())
  }

  @Test(arguments: [false, true]) func `failure of another call repeats nothing`(hasFallback: Bool) async {
    let seen = Recorded<String>()
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    if hasFallback { configuration.servers.current.fallbackURLs = ["http://other.example"] }
    configuration.interceptors.exchanges = [Asking(asksFirst: false)]
    configuration.transport = .own(
      ScriptedTransport { request in
        seen.append(request.url.host)
        return .text("paid")
      })
    let outcome = await APIClient(configuration).outcome(of: Get(method: .post))
    #expect(outcome.error?.code == .refused && seen.all == ["h.example"])
  }

  @Test func `failure of another call opens no circuit`() async {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.servers.breaker = BreakerRule()
    configuration.servers.breaker?.least = 3
    configuration.interceptors.exchanges = [Asking(asksFirst: true)]
    configuration.transport = .own(ScriptedTransport { _ in .text("ok") })
    let client = APIClient(configuration)
    for _ in 0..<5 { #expect(await client.outcome(of: Get(retries: .none)).error?.code == .refused) }
  }
}
