package import ErrandJSON
import ErrandSupport
import Foundation

extension APIClient {
  /// Runs a request through the pipeline up to the cache lookup. At this point the request is final and is passed to
  /// the function `probe`. The cache is not read and nothing is sent; accessories and hooks are not called.
  /// - Throws: ``APIError`` if the request cannot be built, or if an interceptor rejects it or answers it.
  package func inspect<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions(), _ probe: @escaping FrozenProbe
  ) async throws(APIError) {
    try await run(request, options, probe) { .inspecting($0) }
  }

  /// Runs a request through the whole pipeline and passes the request that would be sent to the function `probe`, with
  /// credential, cookies and signature. The function also receives the context of the call. Nothing is sent;
  /// accessories and hooks are not called.
  /// - Throws: ``APIError`` if the request cannot be built, or if an interceptor rejects it or answers it.
  package func prepare<R: APIRequest>(_ request: R, _ probe: @escaping FrozenProbe) async throws(APIError) {
    try await run(request, CallOptions(), probe) { .preparing($0) }
  }

  private func run<R: APIRequest>(
    _ request: R, _ options: CallOptions, _ probe: @escaping FrozenProbe,
    as kind: (@escaping FrozenProbe) -> RunKind
  ) async throws(APIError) {
    let hasArrived = Locked(false)
    let kind = kind { frozen, context in
      hasArrived.withLock { $0 = true }
      await probe(frozen, context)
    }
    // The call does not decode the response, because the response does not come from the server.
    let run = run(TypedCall(request, decodes: false), options, kind)
    let ending = run.finish(await listen(to: run)) { $0 }
    if hasArrived.withLock({ $0 }) { return }
    throw ending.error ?? Self.answeredEarly(R.self)
  }

  /// The error of a request whose final form is unknown, because an interceptor of the app did not call the next
  /// interceptor.
  private static func answeredEarly(_ type: Any.Type) -> APIError {
    APIError(
      .interceptor, .interceptor,
      "An interceptor answered the request \(type) without calling `next`, so the request that would be sent is not "
        + "known; let the interceptor call `next`, or use a client without it.")
  }

  package var timers: any Timers { snapshot.timers }

  /// Writes a line that belongs to no call to the client's log.
  package func log(_ level: LogLine.Level, _ text: @autoclosure () -> String) {
    snapshot.configuration.log?(LogLine(level: level, call: nil, text: Redaction.visible(text())))
  }

  package var answerCache: (any ClientCache)? { snapshot.cache }
}

/// Checks whether recorded responses to one request still fit the types into which the request decodes its responses.
package struct ResponseReading: Sendable {
  /// The frozen request (see ``Freezing``), without credential, cookies and signature.
  package let request: HTTPRequest
  /// Returns the differences between a response and the types into which the request decodes its responses; empty if
  /// these types are not decoded from JSON.
  package let differences: @Sendable (HTTPResponse) -> [JSONDifference]
}

extension APIClient {
  /// Makes a ``ResponseReading``, which compares responses with the types of a request. Nothing is sent.
  /// - Throws: ``APIError`` if the request cannot be built, or if an interceptor answers it.
  package func reading<R: APIRequest>(of request: R) async throws(APIError) -> ResponseReading {
    let made = Locked<ResponseReading?>(nil)
    let formats = formats(of: request)
    let decoder = request.decoder
    try await inspect(request) { frozen, context in
      // The inner closure captures two values of the call plan instead of the whole plan. The plan holds the outer
      // closure, so capturing the plan would make a reference cycle.
      let (statuses, envelope) = (context.plan.rules.status, context.plan.rules.envelope)
      made.withLock {
        $0 = ResponseReading(request: frozen) { response in
          statuses.takes(response, envelope)
            ? decoder.differences(in: response, envelope, formats)
            : ResponseDecoder<R.ErrorBody>.automatic.differences(in: response, .none, formats)
        }
      }
    }
    if let made = made.withLock({ $0 }) { return made }
    throw .fault(.build, .unsupported, "The request was built but did not arrive.")
  }
}

extension ResponseDecoder {
  fileprivate func differences(
    in response: HTTPResponse, _ envelope: Envelope, _ formats: Formats
  ) -> [JSONDifference] {
    guard let type = Value.self as? any Decodable.Type, let own = input.json, !input.readsOther(formats.shared) else {
      return []
    }
    return own.filled(by: formats.jsonDecoding).differences(of: type, in: response.body, at: envelope.value)
  }
}

extension StatusRule {
  /// True if the status and the business code (the result code in the body) of a response mean success. In that case a
  /// value is decoded from the response.
  fileprivate func takes(_ response: HTTPResponse, _ envelope: Envelope) -> Bool {
    guard accepts(response.status) else { return false }
    guard envelope.code != nil, let body = try? ParsedJSON(response.body) else { return true }
    return envelope.refusal(of: body) == nil
  }
}
