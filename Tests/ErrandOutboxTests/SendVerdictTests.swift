import Errand
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import Testing

@testable import ErrandOutbox

struct SendVerdictTests {
  private func result(
    _ stage: APIError.Stage, _ code: APIError.Code, status: Int? = nil, notSent: Bool = false, unclear: Bool = false,
    unknown: Bool = false, after: Int64? = nil
  ) -> SendResult {
    var result = SendResult()
    (result.stage, result.code, result.status) = (stage, code, status)
    (result.isCertainlyNotSent, result.hadUnclearExchange, result.hadUnknownFate) = (notSent, unclear, unknown)
    result.retryAfter = after
    return result
  }

  private func status(_ status: Int, unknown: Bool = false, after: Int64? = nil) -> SendVerdict {
    SendVerdict(result(.validate, .status, status: status, unknown: unknown, after: after))
  }

  private func retry(_ verdict: SendVerdict) -> SendVerdict.Retry? {
    if case .retry(let retry) = verdict { retry } else { nil }
  }

  private func isRejected(_ verdict: SendVerdict) -> Bool { if case .rejected = verdict { true } else { false } }
  private func isParked(_ verdict: SendVerdict) -> Bool { if case .parked = verdict { true } else { false } }
  private func isConflict(_ verdict: SendVerdict) -> Bool { if case .conflict = verdict { true } else { false } }

  @Test func `success is a delivery`() { #expect(SendVerdict(SendResult()) == .delivered) }

  @Test(arguments: [400, 403, 404, 405, 410, 413, 415, 422, 428, 304, 399])
  func `other statuses are rejections`(code: Int) { #expect(isRejected(status(code))) }

  @Test(arguments: [500, 502, 503, 504, 599])
  func `server errors leave the fate open`(code: Int) {
    let retry = retry(status(code, after: 7_000))
    #expect(retry?.mayHaveBeenCarriedOut == true)
    #expect(retry?.counts == true)
    #expect(retry?.after == 7_000)
  }

  @Test(arguments: [408, 425, 429])
  func `postponed requests were not carried out`(code: Int) {
    let retry = retry(status(code))
    #expect(retry?.mayHaveBeenCarriedOut == false)
    #expect(retry?.counts == true)
  }

  @Test func `missing login spends no attempt`() {
    for verdict in [
      status(401), SendVerdict(result(.authorize, .refreshFailed)), SendVerdict(result(.cancelled, .loggedOut)),
    ] {
      #expect(retry(verdict)?.reason.code == .login)
      #expect(retry(verdict)?.counts == false)
    }
  }

  @Test func `conflict asks the app`() {
    #expect(isConflict(status(412)))
    #expect(isConflict(status(412, unknown: true)))
    #expect(isConflict(status(409)))
  }

  @Test func `conflict with a running attempt waits`() {
    #expect(retry(status(409, unknown: true))?.reason.code == .inProgress)
    #expect(retry(status(409, after: 1_000))?.after == 1_000)
  }

  @Test func `key mismatch parks`() {
    #expect(isParked(status(422, unknown: true)))
    #expect(isRejected(status(422)))
  }

  @Test(arguments: [409, 422])
  func `earlier exchange of the call explains the status`(code: Int) {
    let verdict = SendVerdict(result(.validate, .status, status: code, unclear: true))
    #expect(code == 409 ? retry(verdict)?.mayHaveBeenCarriedOut == true : isParked(verdict))
  }

  @Test func `unreachable server spends no attempt`() {
    let codes: [APIError.Code] = [
      .offline, .nameLookup, .refused, .connectTimeout, .idleTimeout, .proxy, .closedBeforeResponse, .reset, .http2,
    ]
    for code in codes {
      let retry = retry(SendVerdict(result(.transport, code, notSent: true)))
      #expect(retry?.reason.code == .offline)
      #expect(retry?.counts == false)
      #expect(retry?.mayHaveBeenCarriedOut == false)
    }
    #expect(retry(SendVerdict(result(.admission, .queueFull, notSent: true)))?.counts == false)
  }

  @Test func `network that ends during an attempt spends none`() {
    let retry = retry(SendVerdict(result(.transport, .offline)))
    #expect(retry?.reason.code == .offline && retry?.counts == false && retry?.mayHaveBeenCarriedOut == true)
  }

  @Test func `offline transport spends no attempt`() async {
    let transport = ScriptedTransport { _ in throw TransportFailure(.offline, "offline", isCertainlyNotSent: true) }
    let outcome = await Self.client(transport).outcome(of: Plain(number: 1))
    #expect(outcome.error?.stage == .transport && outcome.error?.code == .offline)
    let retry = retry(SendVerdict(SendResult(outcome, hadUnknownFate: false)))
    #expect(retry?.reason.code == .offline && retry?.counts == false && retry?.mayHaveBeenCarriedOut == false)
  }

  @Test func `broken exchange counts and leaves the fate open`() {
    for verdict in [
      SendVerdict(result(.transport, .reset)), SendVerdict(result(.deadline, .deadline)),
      SendVerdict(result(.transport, .idleTimeout)), SendVerdict(result(.interceptor, .interceptor)),
    ] {
      #expect(retry(verdict)?.counts == true)
      #expect(retry(verdict)?.mayHaveBeenCarriedOut == true)
    }
  }

  @Test func `earlier exchange of the call leaves the fate open`() {
    let verdict = SendVerdict(result(.validate, .status, status: 429, unclear: true))
    #expect(retry(verdict)?.mayHaveBeenCarriedOut == true)
  }

  @Test(arguments: [404, 403, 409, 412, 422, 303])
  func `status after a redirect rejects only the response`(code: Int) {
    var result = result(.validate, .status, status: code, unclear: true)
    result.wasRedirected = true
    guard case .rejected(let reason, mayHaveBeenCarriedOut: true) = SendVerdict(result) else {
      Issue.record("\(code) is not a rejection")
      return
    }
    #expect(reason.code == .response)
  }

  @Test(arguments: [401, 429, 500])
  func `passing status after a redirect is tried again`(code: Int) {
    var result = result(.validate, .status, status: code, unclear: true)
    result.wasRedirected = true
    #expect(retry(SendVerdict(result))?.mayHaveBeenCarriedOut == true)
  }

  @Test func `permanent failures are rejections`() {
    for result in [
      result(.build, .invalidPath), result(.redirect, .redirectLoop), result(.decode, .decoding, status: 200),
      result(.validate, .shape, status: 200), result(.validate, .business, status: 200),
    ] {
      #expect(isRejected(SendVerdict(result)))
    }
  }

  @Test(
    arguments: [
      (.build, .invalidPath, false, false), (.validate, .business, false, false), (.validate, .shape, false, true),
      (.decode, .decoding, false, true), (.redirect, .redirectLoop, false, true),
      (.redirect, .redirectRefused, true, false), (.transfer, .other, false, true), (.transfer, .other, true, false),
      (.cache, .other, true, false), (.group, .other, true, false),
    ] as [(APIError.Stage, APIError.Code, Bool, Bool)])
  func `rejection tells whether the server may have acted`(
    stage: APIError.Stage, code: APIError.Code, isNotSent: Bool, mayHaveActed: Bool
  ) {
    for unclear in [false, true] {
      let verdict = SendVerdict(result(stage, code, notSent: isNotSent && !unclear, unclear: unclear))
      guard case .rejected(_, mayHaveBeenCarriedOut: let isPossible) = verdict else {
        Issue.record("\(stage) is not a rejection")
        continue
      }
      #expect(isPossible == (mayHaveActed || unclear), "\(stage)")
    }
  }

  @Test func `earlier exchange leaves doubt about a final status`() {
    for (code, isUnclear) in [(404, false), (404, true), (412, false), (412, true), (422, true)] {
      switch SendVerdict(result(.validate, .status, status: code, unclear: isUnclear)) {
      case .rejected(_, mayHaveBeenCarriedOut: let isPossible), .conflict(_, mayHaveBeenCarriedOut: let isPossible),
        .parked(_, mayHaveBeenCarriedOut: let isPossible):
        #expect(isPossible == isUnclear, "\(code)")
      case .delivered, .retry: Issue.record("\(code) is not final")
      }
    }
  }

  @Test(arguments: [APIError.Code.status, .business])
  func `response that rejects the credential spends no attempt`(code: APIError.Code) {
    var result = result(.validate, code, status: 403)
    result.rejectsCredential = true
    let retry = retry(SendVerdict(result))
    #expect(retry?.reason.code == .login && retry?.counts == false && retry?.mayHaveBeenCarriedOut == false)
  }

  @Test func `only a rejected credential leaves no doubt`() {
    #expect(retry(status(401))?.mayHaveBeenCarriedOut == false)
    #expect(retry(SendVerdict(result(.authorize, .refreshFailed)))?.mayHaveBeenCarriedOut == false)
    #expect(retry(SendVerdict(result(.cancelled, .loggedOut)))?.mayHaveBeenCarriedOut == true)
  }

  @Test func `certificate failures count`() {
    #expect(retry(SendVerdict(result(.transport, .tls, notSent: true)))?.counts == true)
  }

  @Test func `call that never left spends no attempt`() {
    for verdict in [
      SendVerdict(result(.deadline, .deadline, notSent: true)),
      SendVerdict(result(.interceptor, .interceptor, notSent: true)),
    ] {
      #expect(retry(verdict)?.counts == false)
      #expect(retry(verdict)?.mayHaveBeenCarriedOut == false)
    }
  }

  private static let refused = TransportFailure(.refused, "refused", isCertainlyNotSent: true)

  private static func client(
    _ transport: ScriptedTransport, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.retries = RetryPolicy(attempts: 2, firstDelay: .zero, busyDelay: .zero)
    change(&configuration)
    return APIClient(configuration)
  }

  /// Throws the error of another call after the exchange.
  private struct Throwing: Interceptor {
    let error: APIError

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      _ = try await next(request)
      throw error
    }
  }

  @Test(arguments: [true, false])
  func `stop of an interceptor's call spends no attempt`(isStopped: Bool) async throws {
    let inner = Self.client(ScriptedTransport(.status(404)))
    let other = Task {
      if isStopped { withUnsafeCurrentTask { $0?.cancel() } }
      return await inner.outcome(of: Plain(number: 1))
    }
    let error = try #require(await other.value.error)
    #expect(error.stage == (isStopped ? .cancelled : .validate))
    let client = Self.client(ScriptedTransport(.status(204))) { $0.interceptors.exchanges = [Throwing(error: error)] }
    let outcome = await client.outcome(of: Rename(title: "x"))
    let retry = retry(SendVerdict(SendResult(outcome, hadUnknownFate: false)))
    #expect(retry?.reason.code == (isStopped ? .interrupted : .failure) && retry?.counts == !isStopped)
    #expect(retry?.mayHaveBeenCarriedOut == true)
  }

  @Test(arguments: [0, 2])
  func `refused repetitions send nothing`(fallbacks: Int) async {
    let transport = ScriptedTransport { _ in throw Self.refused }
    let client = Self.client(transport) {
      $0.servers.current.fallbackURLs = (0..<fallbacks).map { "http://h\($0).example" }
    }
    let outcome = await client.outcome(of: Plain(number: 1))
    #expect(transport.requests.count == 2 * (1 + fallbacks))
    let result = SendResult(outcome, hadUnknownFate: false)
    #expect(result.isCertainlyNotSent && !result.isRepetition)
    #expect(retry(SendVerdict(result))?.reason.code == .offline)
  }

  @Test func `repetition after an unclear failure leaves doubt`() async {
    let count = Locked(0)
    let transport = ScriptedTransport { _ in
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      throw isFirst ? TransportFailure(.reset, "reset") : Self.refused
    }
    let outcome = await Self.client(transport).outcome(of: Rename(title: "x"))
    let result = SendResult(outcome, hadUnknownFate: false)
    #expect(!result.isCertainlyNotSent && result.isRepetition)
  }

  @Test(arguments: [(TransportFailure.Kind.refused, true), (.reset, false)])
  func `stopped repetition is as clear as the first exchange`(kind: TransportFailure.Kind, isNotSent: Bool) async {
    let transport = ScriptedTransport { _ in throw TransportFailure(kind, "failed", isCertainlyNotSent: isNotSent) }
    let count = Locked(0)
    var options = CallOptions()
    options.exchangeCheck = { () throws(APIError) in
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      if !isFirst { throw APIError(.deadline, .deadline, "stopped") }
    }
    let outcome = await Self.client(transport).outcome(of: Rename(title: "x"), options: options)
    #expect(transport.requests.count == 1 && outcome.error?.stage == .deadline)
    #expect(SendResult(outcome, hadUnknownFate: false).isCertainlyNotSent == isNotSent)
  }

  @Test(arguments: [(429, true), (503, false)])
  func `repeated call is not sent if the first exchange was not`(status: Int, isNotSent: Bool) async {
    let count = Locked(0)
    let transport = ScriptedTransport { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 1 { return .status(status) }
      throw Self.refused
    }
    let outcome = await Self.client(transport).outcome(of: Rename(title: "x"))
    #expect(transport.requests.count == 2)
    #expect(SendResult(outcome, hadUnknownFate: false).isCertainlyNotSent == isNotSent)
  }
}
