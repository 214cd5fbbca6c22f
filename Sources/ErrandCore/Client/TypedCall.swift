import ErrandJSON

/// The part of a run that depends on the request's types. All of it is synchronous: the waiting is done by ``CallRun``,
/// which knows no types, so that no wait has to carry a value of unknown size.
protocol CallTyping: AnyObject, Sendable {
  /// By which rules the value is made; nil where they cannot be compared.
  func decodedRules(_ plan: CallPlan, _ rules: DecodingRules) -> DecodedRules?
  /// The job that tells of the stored answer, for a call that wants it first; nil for every other.
  func cachedJob(_ info: CallInfo, _ ending: CallEnding) -> (@Sendable () -> Void)?
  /// Whether the value is made of a body in memory.
  var readsBody: Bool { get }
  /// Which content types are taken where the request says nothing.
  func contentTypes(in format: (any ResponseFormat)?) -> [String]?
  /// Whether the call wants the stored answer first and then a fresh one.
  var isTwofold: Bool { get }
  /// Makes what is sent.
  func build(_ builder: RequestBuilder, _ family: RequestFamily?, _ options: CallOptions) throws(APIError)
    -> HTTPRequest
  /// Decodes the answer and keeps the value; returns why it could not.
  func decode(_ response: HTTPResponse, _ rules: DecodingRules, kept: DecodedRules?) -> APIError?
  /// Reads a refused answer as the request's type for errors.
  func errorBody(of response: HTTPResponse, _ rules: DecodingRules) -> (any Sendable)?
  /// The request's hook off the callback executor, ready to run.
  func hook(before ending: CallEnding) -> (@Sendable () async -> Void)?
}

/// The types of one run.
final class TypedCall<R: APIRequest>: CallTyping {
  let request: R
  let repeats: RepeatRule
  private let hooks: CompletionHooks<R.Response>?
  private let decoder: ResponseDecoder<R.Response>
  /// Whether a value is made of the answer.
  private let decodes: Bool
  nonisolated(unsafe) private var value: R.Response?  // set by the run's work, read only after its end

  private let onCached: (@Sendable (CallInfo, Outcome<R.Response>) -> Void)?

  /// - Parameters:
  ///   - decodes: Whether a value is made of the answer; where none is, the hooks have nothing to be told.
  ///   - onCached: Told the stored answer, for a call that wants it first.
  init(
    _ request: R, decodes: Bool = true, onCached: (@Sendable (CallInfo, Outcome<R.Response>) -> Void)? = nil
  ) {
    self.request = request
    self.decodes = decodes
    self.onCached = onCached
    hooks = decodes ? request.hooks : nil
    repeats = request.repeats
    decoder = request.decoder
  }

  func build(
    _ builder: RequestBuilder, _ family: RequestFamily?, _ options: CallOptions
  ) throws(APIError) -> HTTPRequest {
    try builder.build(request, family, options, decoder)
  }

  var isTwofold: Bool { onCached != nil }

  var readsBody: Bool { decoder.readsBody }

  func contentTypes(in format: (any ResponseFormat)?) -> [String]? {
    decodes ? decoder.contentTypes(in: format) : nil
  }

  func decodedRules(_ plan: CallPlan, _ rules: DecodingRules) -> DecodedRules? {
    guard decoder.isByType(rules.format) else { return nil }
    return DecodedRules(
      type: R.self, status: plan.statusRule, contentTypes: plan.contentTypes, shape: plan.shape,
      envelope: plan.envelope, json: rules.json)
  }

  func decode(_ response: HTTPResponse, _ rules: DecodingRules, kept: DecodedRules?) -> APIError? {
    guard decodes else { return nil }
    // Two steps: nothing can be cast to an optional type, and would pass for a value that was kept.
    if let kept, let stored = response.hit?.value(for: kept), let known = stored as? R.Response {
      value = known
      return nil
    }
    do {
      let made = try decoder.decode(response, rules)
      value = made
      if let kept { response.hit?.keep(made, for: kept) }
      return nil
    } catch let error as APIError {
      return error
    } catch {
      let clause = "the answer could not be read as \(decoder.name(in: rules.format)): \(error)\(Self.cure(for: error))"
      return APIError(.decode, .decoding, APIError.sentence(clause), cause: error)
    }
  }

  private static func cure(for error: any Error) -> String {
    (error as? JSONDecodingError)?.kind == .empty ? "; where that is right, take `Nothing` as the response type" : ""
  }

  func errorBody(of response: HTTPResponse, _ rules: DecodingRules) -> (any Sendable)? {
    try? ResponseDecoder<R.ErrorBody>.automatic.decode(response, rules)
  }

  func hook(before ending: CallEnding) -> (@Sendable () async -> Void)? {
    guard let before = hooks?.before else { return nil }
    let outcome = outcome(ending)
    return { await before(outcome) }
  }

  func cachedJob(_ info: CallInfo, _ ending: CallEnding) -> (@Sendable () -> Void)? {
    guard let onCached else { return nil }
    let outcome = outcome(ending)
    return { onCached(info, outcome) }
  }

  /// Tells the hook on the callback executor and the callback; returns what they were told.
  func tell(_ ending: CallEnding, _ callback: (Outcome<R.Response>) -> Void) -> Outcome<R.Response> {
    let outcome = outcome(ending)
    hooks?.after?(outcome)
    callback(outcome)
    return outcome
  }

  /// Tells the hook on the callback executor; for `send`, which needs no outcome to hand over.
  func tell(_ ending: CallEnding) {
    if let after = hooks?.after { after(outcome(ending)) }
  }

  /// The value of a call that ended this way.
  func value(of ending: CallEnding) throws(APIError) -> R.Response {
    if let error = ending.error { throw error }
    guard let value else { throw APIError(.decode, .decoding, "The call ended without a value.") }
    return value
  }

  func outcome(_ ending: CallEnding) -> Outcome<R.Response> {
    let result = Result { () throws(APIError) in try value(of: ending) }
    return Outcome(
      result: result, request: ending.request, response: ending.response, origin: ending.origin,
      metrics: ending.metrics,
      isUnchanged: ending.isUnchanged)
  }
}
