import Errand
import ErrandTesting
import TestSupport
import Testing

/// A retry policy that cannot apply, because the request must not be sent twice.
@Suite(.enabled(if: isDebugBuild)) struct RetryAdviceTests {
  private struct Pay: APIRequest {
    var path: Path { "/pay" }
    var method: HTTPMethod { .post }
    var retries: RetryPolicy { .standard }
  }

  @Test func `retries of a POST are explained`() async {
    #expect(
      await ScriptedClient.warnings(Pay()) == [
        "Pay: `retries` applies only to failures before the request is sent, because POST is not idempotent "
          + "(RFC 9110 section 9.2.2); declare `idempotency` as `.keyed()` or `.assumed` if the server recognises "
          + "repeated requests, or as `.never` if this is intended."
      ])
  }

  private struct Order: APIRequest {
    var path: Path { "/pay" }
    var method: HTTPMethod { .post }
  }

  @Test func `retries of a call are explained`() async {
    #expect(await ScriptedClient.warnings(Order(), options: CallOptions(retries: .standard)).count == 1)
  }

  private struct Keyed: APIRequest {
    var path: Path { "/pay" }
    var method: HTTPMethod { .post }
    var retries: RetryPolicy { .standard }
    var idempotency: Idempotency { .keyed() }
  }

  private struct Intended: APIRequest {
    var path: Path { "/pay" }
    var method: HTTPMethod { .post }
    var retries: RetryPolicy { .standard }
    var idempotency: Idempotency { .never }
  }

  private struct Load: APIRequest {
    var path: Path { "/pay" }
    var retries: RetryPolicy { .standard }
  }

  private struct Plain: APIRequest {
    var path: Path { "/pay" }
    var method: HTTPMethod { .post }
  }

  @Test func `retries that apply are silent`() async {
    #expect(await ScriptedClient.warnings(Keyed()).isEmpty)
    #expect(await ScriptedClient.warnings(Intended()).isEmpty)
    #expect(await ScriptedClient.warnings(Load()).isEmpty)
  }

  @Test func `client's retries of a POST are silent`() async {
    let lines = Recorded<LogLine>()
    let bench = ScriptedClient {
      $0.log = { lines.append($0) }
      $0.retries = .standard
    }
    _ = await bench.client.outcome(of: Plain())
    #expect(lines.all.allSatisfy { $0.level == .info })
  }
}
