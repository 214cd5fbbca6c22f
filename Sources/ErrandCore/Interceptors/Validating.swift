import ErrandJSON
import Foundation

/// Checks the response by the rules of the call: status, content type, JSON shape and business code.
package struct Validating: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try await judged(try await next(request), context)
  }

  /// This function is separate, so that its local variables do not enlarge the async frame of a call that waits in
  /// `next`.
  @inline(never)  // frame size
  func judged(_ response: HTTPResponse, _ context: CallContext) async throws -> HTTPResponse {
    if let hit = response.hit, let rules = context.cache?.decodedRules, hit.value(for: rules) != nil {
      // A value was already decoded from this cached response by the rules of the call. So the response has passed the
      // checks below.
      return response
    }
    // A downloaded file was checked before it got its final name. The status of its response is not checked, because
    // the status is 416 if the file was already complete.
    if response.file != nil { return response }
    try await Self.checkStatus(of: response, context)
    try Self.checkDelivery(of: response, context)
    try Self.checkWhole(response, context.plan.sending.limits.bodyBytes)
    try Self.checkContentType(of: response, among: context.plan.rules.contentTypes)
    try Self.checkFormat(of: response, among: context.plan.formatTypes)
    try Self.checkFile(of: response, context.plan)
    guard context.plan.rules.readsJSON, !Self.cannotHaveBody(response, context) else { return response }
    let isLarge = response.body.count > Self.inlineLimit
    let parsed =
      isLarge
      ? try await Self.checkJSONElsewhere(of: response, by: context.plan)
      : try Self.checkJSON(of: response, by: context.plan)
    return response.with(parsed)
  }

  /// True if the ``Envelope`` cannot be checked, because HTTP allows no body for the response: the status is 204, 205
  /// or 304, or the method is HEAD.
  private static func cannotHaveBody(_ response: HTTPResponse, _ context: CallContext) -> Bool {
    guard response.body.isEmpty, context.plan.rules.shape == nil else { return false }
    return [204, 205, 304].contains(response.status) || context.record.sent?.method == .head
  }

  /// The size in bytes up to which a body is checked and decoded on the caller's executor. Larger bodies are processed
  /// on the global executor.
  package static let inlineLimit = 16_384

  private static func checkStatus(of response: HTTPResponse, _ context: CallContext) async throws {
    let plan = context.plan
    guard !plan.rules.status.accepts(response.status) else { return }
    let sent = context.record.sent
    guard response.body.count > inlineLimit else {
      return try checkStatus(of: response, by: plan.rules.status, envelope: plan.rules.envelope, sent: sent)
    }
    try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
      try checkStatus(of: response, by: plan.rules.status, envelope: plan.rules.envelope, sent: sent)
    }
  }

  /// Checks the status. The error also contains the business code and the message that the ``Envelope`` finds in the
  /// body of the rejected response. Without such a message it contains the texts of ``ProblemDetails``.
  /// - Parameter sent: the request that was sent, for the cure in the message.
  package static func checkStatus(
    of response: HTTPResponse, by rule: StatusRule, envelope: Envelope = .none, sent: HTTPRequest? = nil
  ) throws(APIError) {
    guard !rule.accepts(response.status) else { return }
    let reason = response.head.shownReason
    let refusal = envelope.code == nil ? nil : (try? ParsedJSON(response.body)).flatMap { envelope.refusal(of: $0) }
    let code = refusal?.code?.messageText
    let own = code.map { " with code \(APIError.words($0))" } ?? ""
    let text = refusal?.message ?? (try? ProblemDetails(response))?.sentences(after: response.head.reason)
    let words = text.map(APIError.serverSentence) ?? ""
    let cure = response.status == 415 && sent?.fields.mediaType?.isForm == true ? formCure : ""
    let message = "The server answered \(response.status)\(reason)\(own); expected \(rule).\(words)\(cure)"
    throw failure(.status, message, response).with { ($0.businessCode, $0.serverMessage) = (code, text) }
  }

  /// The end of the message for status 415 if the request was a form.
  package static let formCure =
    " The arguments were sent as a form; if the server reads JSON, set `arguments` of the `formats` to"
    + " `.jsonByMethod`."

  /// Fails if the body was kept out of the file or the sink of the call, because the response rejects the credential.
  private static func checkDelivery(of response: HTTPResponse, _ context: CallContext) throws(APIError) {
    guard context.sink != nil || context.plan.hasDownload, response.rejectsCredential else { return }
    let message =
      "The server rejected the credential in a response with status \(response.status), so the body of the response was"
      + " not delivered; log in again, or check `isRejection(_:)` of the provider."
    throw failure(.status, message, response)
  }

  /// Fails if the body is truncated. A response with a rejected status may have a truncated body. For such a response
  /// the status check has already thrown an error.
  private static func checkWhole(_ response: HTTPResponse, _ limit: Int) throws(APIError) {
    guard response.isCut else { return }
    throw .mapping(TransportFailure.bodyTooLarge(limit), as: .transport).with { $0.response = response }
  }

  package static func checkContentType(of response: HTTPResponse, among patterns: [String]?) throws(APIError) {
    guard let patterns, !response.body.isEmpty, !takes(response.fields, patterns) else { return }
    throw wrongType(of: response, patterns)
  }

  private static func wrongType(of response: HTTPResponse, _ patterns: [String]) -> APIError {
    let found = response.fields.shownContentType
    return failure(
      .contentType, "The response has \(found); expected \(patterns.joined(separator: " or ")).", response)
  }

  /// Checks the content type against the types that the response format accepts. These types apply only if the request
  /// itself declares no content types.
  private static func checkFormat(of response: HTTPResponse, among patterns: [String]?) throws(APIError) {
    guard let patterns, !response.body.isEmpty, let found = response.fields[.contentType], !found.isEmpty,
      !fits(response.fields.mediaType, patterns)
    else { return }
    throw failure(
      .contentType,
      "The response has \(response.fields.shownContentType); expected \(patterns.joined(separator: " or ")). "
        + "If the content type of the response is correct, add the type to `contentTypes` of the `validation`.",
      response)
  }

  private static func fits(_ type: MediaType?, _ patterns: [String]) -> Bool {
    guard let type else { return false }
    return patterns.contains { (!type.isPage || !$0.contains("*")) && type.matches($0) }
  }

  /// Fails if the response to a download is not in a file, although its status means success. Otherwise a call whose
  /// value does not contain the file, such as ``Nothing``, would succeed without a file.
  private static func checkFile(of response: HTTPResponse, _ plan: CallPlan) throws(APIError) {
    guard plan.hasDownload, plan.kind.isOrdinary, response.head.isSuccess else { return }
    try response.checkCarriesFile()
    // An empty body of another content type was kept out of the file, too.
    if let patterns = plan.rules.contentTypes, !takes(response.fields, patterns) {
      throw wrongType(of: response, patterns)
    }
    throw APIError(
      .interceptor, .interceptor,
      "The response was not written to the file of the download: an interceptor made or replaced the response, or the"
        + " transport did not use the sink of the exchange. Let the interceptor return the response of `next`."
    ).with { $0.response = response }
  }

  /// Whether the content type matches one of the patterns. True if `patterns` is nil.
  static func takes(_ fields: HTTPFields, _ patterns: [String]?) -> Bool {
    guard let patterns else { return true }
    guard let type = fields.mediaType else { return false }
    return patterns.contains(where: type.matches)
  }

  /// Checks the JSON of a large body on the global executor, so that the check does not block the caller's actor or the
  /// thread of the transport.
  private static func checkJSONElsewhere(of response: HTTPResponse, by plan: CallPlan) async throws -> ParsedJSON? {
    try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
      try checkJSON(of: response, by: plan)
    }
  }

  /// Checks the JSON of a response. Returns the parsed body, so that the decoder need not parse the body again.
  @discardableResult
  static func checkJSON(of response: HTTPResponse, by plan: CallPlan) throws(APIError) -> ParsedJSON? {
    let parsed: ParsedJSON
    do {
      parsed = try ParsedJSON(response.body)
    } catch {
      if error == .empty, acceptsNothing(plan) { return nil }
      let page = HTMLPage(response)?.message(response.head, cure: plan.rules.shape == nil ? htmlCure : "")
      let message = page ?? "JSON was expected, but \(clause(of: error))\(cure(plan))"
      throw failure(.notJSON, message, response, cause: error)
    }
    try checkBusiness(parsed, of: response, by: plan.rules.envelope)
    do {
      try plan.rules.shape?.check(parsed)
    } catch {
      throw failure(.shape, "The JSON does not have the declared shape: \(error).", response, cause: error)
    }
    return parsed
  }

  /// True if an empty body is valid, because the shape is optional as a whole and no business code is expected.
  private static func acceptsNothing(_ plan: CallPlan) -> Bool {
    guard plan.rules.envelope.code == nil, let shape = plan.rules.shape else { return false }
    return (try? shape.check(data: Data())) != nil
  }

  /// The advice in the error message if only the ``Envelope`` requires JSON. An envelope is usually declared for the
  /// whole client, but the response of this request may have another format.
  private static func cure(_ plan: CallPlan) -> String {
    guard plan.rules.shape == nil else { return "" }
    return
      " The `Envelope` of the call requires a code in the body; if the response has no code, declare "
      + "`validation` as `ResponseValidation(envelope: .none)`."
  }

  /// The advice in the error message if only the ``Envelope`` requires JSON, and the response is an HTML page.
  private static let htmlCure =
    " If this request expects HTML, declare `validation` as `ResponseValidation(envelope: .none)`."

  private static func clause(of error: JSONError) -> String {
    error == .empty ? "the body is empty." : error.clause + "."
  }

  private static func checkBusiness(
    _ body: ParsedJSON, of response: HTTPResponse, by envelope: Envelope
  ) throws(APIError) {
    guard let refusal = envelope.refusal(of: body) else { return }
    let code = refusal.code?.messageText
    let words = refusal.message.map { ": \(APIError.words($0))" } ?? ""
    let place = envelope.code.map { "\($0)" } ?? "its place"
    let kind = refusal.code.flatMap { envelope.confusion(with: $0) } ?? ""
    let clause =
      code.map { "The server rejected the request with code \(APIError.words($0))\(kind)\(words)" }
      ?? "The response has no business code at \(place), but the `Envelope` of the call requires a code"
    throw failure(.business, APIError.sentence(clause), response).with {
      ($0.businessCode, $0.serverMessage) = (code, refusal.message)
    }
  }

  private static func failure(
    _ code: APIError.Code, _ message: String, _ response: HTTPResponse, cause: (any Error)? = nil
  ) -> APIError {
    APIError(.validate, code, message, cause: cause).with { $0.response = response }
  }
}

/// Runs work on the global executor, so that it blocks neither the actor of the caller nor the thread of the transport.
func onGlobalExecutor<Value: Sendable>(_ work: @Sendable () -> Value) async -> Value {
  await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in work() }
}
