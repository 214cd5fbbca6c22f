import ErrandJSON
import Foundation

/// Judges the answer by this call's own rules: status, content type, shape, business code.
package struct Validating: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try await judged(try await next(request), context)
  }

  /// Apart, so that a call that waits below holds no room for it.
  @inline(never)
  func judged(_ response: HTTPResponse, _ context: CallContext) async throws -> HTTPResponse {
    if let hit = response.hit, let rules = context.cache?.decodedRules, hit.value(for: rules) != nil {
      return response  // judged by the same rules when the value was made
    }
    // A file was checked when it got its name, whatever the status says: 416 where nothing was left to fetch.
    if response.file != nil { return response }
    try await Self.checkStatus(of: response, by: context.plan)
    try Self.checkWhole(response, context.plan.limits.bodyBytes)
    try Self.checkContentType(of: response, among: context.plan.contentTypes)
    try Self.checkFormat(of: response, among: context.plan.formatTypes)
    guard context.plan.readsJSON, !Self.hasNoRoom(response, context) else { return response }
    let isLarge = response.body.count > Self.inlineLimit
    let parsed =
      isLarge
      ? try await Self.checkJSONElsewhere(of: response, by: context.plan)
      : try Self.checkJSON(of: response, by: context.plan)
    return response.with(parsed)
  }

  /// Whether HTTP leaves no room for an envelope: 204, 205 and what answers HEAD have no body.
  private static func hasNoRoom(_ response: HTTPResponse, _ context: CallContext) -> Bool {
    guard response.body.isEmpty, context.plan.shape == nil else { return false }
    return response.status == 204 || response.status == 205 || context.record.sent?.method == .head
  }

  /// Bodies up to this many bytes are judged and decoded where the caller is.
  package static let inlineLimit = 16_384

  private static func checkStatus(of response: HTTPResponse, by plan: CallPlan) async throws {
    guard !plan.statusRule.accepts(response.status) else { return }
    guard response.body.count > inlineLimit else {
      return try checkStatus(of: response, by: plan.statusRule, envelope: plan.envelope)
    }
    try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
      try checkStatus(of: response, by: plan.statusRule, envelope: plan.envelope)
    }
  }

  /// A refused answer may have the envelope's code and words, too.
  package static func checkStatus(
    of response: HTTPResponse, by rule: StatusRule, envelope: Envelope? = nil
  ) throws(APIError) {
    guard !rule.accepts(response.status) else { return }
    let reason = response.head.reason.isEmpty ? "" : " \(response.head.reason)"
    let refusal = envelope?.code == nil ? nil : (try? ParsedJSON(response.body)).flatMap { envelope?.refusal(of: $0) }
    let code = refusal?.code.map { $0.stringValue ?? "\($0)" }
    let own = code.map { " with code \($0)" } ?? ""
    let words = refusal?.message.map { " Its words: \(APIError.ended(APIError.words($0)))" } ?? ""
    let message = "The server answered \(response.status)\(reason)\(own); expected \(rule).\(words)"
    throw failure(.status, message, response).with { $0.businessCode = code }
  }

  /// A refused answer may be the beginning of one; an accepted one may not.
  private static func checkWhole(_ response: HTTPResponse, _ limit: Int) throws(APIError) {
    guard response.isCut else { return }
    throw .mapping(TransportFailure.bodyTooLarge(limit), as: .transport).with { $0.response = response }
  }

  package static func checkContentType(of response: HTTPResponse, among patterns: [String]?) throws(APIError) {
    guard let patterns, !response.body.isEmpty, !takes(response.fields, patterns) else { return }
    let found = shown(response.fields)
    throw failure(
      .contentType, "The answer has \(found); expected \(patterns.joined(separator: " or ")).", response)
  }

  /// By the content types of the format, where the request lists none.
  private static func checkFormat(of response: HTTPResponse, among patterns: [String]?) throws(APIError) {
    guard let patterns, !response.body.isEmpty, let found = response.fields[.contentType], !found.isEmpty,
      !fits(response.fields.mediaType, patterns)
    else { return }
    throw failure(
      .contentType,
      "The answer has \(shown(response.fields)); expected \(patterns.joined(separator: " or ")). "
        + "Where it is right, list it in `contentTypes`.", response)
  }

  private static func fits(_ type: MediaType?, _ patterns: [String]) -> Bool {
    guard let type else { return false }
    return patterns.contains { (!type.isPage || !$0.contains("*")) && type.matches($0) }
  }

  /// The content type in words.
  static func shown(_ fields: HTTPFields) -> String {
    fields[.contentType].map { "the content type \"\($0)\"" } ?? "no content type"
  }

  /// Whether the content type is one of those that are taken.
  static func takes(_ fields: HTTPFields, _ patterns: [String]?) -> Bool {
    guard let patterns else { return true }
    guard let type = fields.mediaType else { return false }
    return patterns.contains(where: type.matches)
  }

  /// Off the caller's actor, and off the transport's thread where the task prefers that.
  private static func checkJSONElsewhere(of response: HTTPResponse, by plan: CallPlan) async throws -> ParsedJSON? {
    try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
      try checkJSON(of: response, by: plan)
    }
  }

  /// Returns the parsed body, for whom reads it next.
  @discardableResult
  static func checkJSON(of response: HTTPResponse, by plan: CallPlan) throws(APIError) -> ParsedJSON? {
    let parsed: ParsedJSON
    do {
      parsed = try ParsedJSON(response.body)
    } catch {
      if error == .empty, acceptsNothing(plan) { return nil }
      let message = "JSON was expected, but \(clause(of: error))\(cure(plan))"
      throw failure(.notJSON, message, response, cause: error)
    }
    try checkBusiness(parsed, of: response, by: plan.envelope)
    do {
      try plan.shape?.check(parsed)
    } catch {
      throw failure(.shape, "The JSON does not have the declared shape: \(error).", response, cause: error)
    }
    return parsed
  }

  /// Whether an empty body will do: the shape is optional as a whole, and no business code is looked for.
  private static func acceptsNothing(_ plan: CallPlan) -> Bool {
    guard plan.envelope?.code == nil, let shape = plan.shape else { return false }
    return (try? shape.check(data: Data())) != nil
  }

  /// What to do where nothing but an envelope wants JSON: most are the client's, and this request has another form.
  private static func cure(_ plan: CallPlan) -> String {
    guard plan.shape == nil else { return "" }
    return " The envelope looks for a code in it; a request of another form declares `Envelope.bare`."
  }

  private static func clause(of error: JSONError) -> String {
    error == .empty ? "the body is empty." : error.clause + "."
  }

  private static func checkBusiness(
    _ body: ParsedJSON, of response: HTTPResponse, by envelope: Envelope?
  ) throws(APIError) {
    guard let refusal = envelope?.refusal(of: body) else { return }
    let code = refusal.code.map { $0.stringValue ?? "\($0)" }
    let words = refusal.message.map { ": \(APIError.words($0))" } ?? ""
    let place = envelope?.code.map { "\($0)" } ?? "its place"
    let kind = refusal.code.flatMap { envelope?.confusion(with: $0) } ?? ""
    let clause =
      code.map { "The server refused with code \($0)\(kind)\(words)" } ?? "The answer has no code at \(place)"
    throw failure(.business, APIError.sentence(clause), response).with { $0.businessCode = code }
  }

  private static func failure(
    _ code: APIError.Code, _ message: String, _ response: HTTPResponse, cause: (any Error)? = nil
  ) -> APIError {
    APIError(.validate, code, message, cause: cause).with { $0.response = response }
  }
}
