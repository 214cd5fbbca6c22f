import ErrandJSON
import ErrandSupport
import Foundation

/// The part of a ``CallRun`` that depends on the types of the request. All its functions are synchronous. `CallRun` is
/// not generic and contains all async functions, so that no async frame contains a value of unknown size.
protocol AnyTypedCall: AnyObject, Sendable {
  /// The rules that determine the decoded value of a response; nil if these rules cannot be compared with the rules of
  /// another call.
  func decodedRules(_ plan: CallPlan, _ rules: DecodingRules) -> DecodedRules?
  /// The job that delivers the stored response of a `cachedThenFresh` call; nil for other calls.
  func cachedJob(_ info: CallInfo, _ ending: Outcome<Void>) -> (@Sendable () -> Void)?
  var decodes: Bool { get }
  var input: DecoderInput { get }
  /// True for a `cachedThenFresh` call, which delivers the stored response first and then a fresh response.
  var givesCachedFirst: Bool { get }
  /// The request's own rules for calls that overlap, read once.
  var overlap: Overlap { get }
  func build(
    _ builder: RequestBuilder, _ family: SharedFamily?, _ options: CallOptions, _ formats: Formats
  ) throws(APIError) -> HTTPRequest
  /// Decodes the response and stores the value. Returns the error if decoding fails.
  func decode(_ response: HTTPResponse, _ rules: DecodingRules, kept: DecodedRules?) -> APIError?
  /// Checks whether the dates of a decoded response were read from 1970, although the decoder counts from 2001.
  func epochDates(in response: HTTPResponse, _ rules: DecodingRules) -> JSONEpochDates
  func errorBody(of response: HTTPResponse, _ rules: DecodingRules) -> ReadErrorBody
  /// Whether the request has hooks. Most requests have none, and to ask a generic type for a hook takes longer.
  var hasHooks: Bool { get }
  /// A closure that calls the request's `before` hook, which runs before the call reports its ending; nil if there is
  /// no such hook. The hook does not run on the callback executor.
  func hook(before ending: Outcome<Void>) -> (@Sendable () async -> Void)?
  /// A closure that calls the request's `after` hook, which runs on the callback executor, just before the callback of
  /// the call; nil if there is no such hook.
  func hook(after ending: Outcome<Void>) -> (@Sendable () -> Void)?
}

/// The body of a rejected response, decoded as the request's `ErrorBody`.
struct ReadErrorBody: Sendable {
  var body: (any Sendable)?
  /// The `errorDescription` of the decoded body, if it conforms to `LocalizedError`.
  var message: String?
  /// A sentence that says why a body that is not empty could not be decoded; nil if it was decoded.
  var failure: String?
}

/// The generic part of a ``CallRun``, which knows the types of the request.
final class TypedCall<R: APIRequest>: AnyTypedCall {
  let request: R
  let overlap: Overlap
  let accessories: [any Accessory]
  let indicator: IndicatorChoice
  private let before: (@Sendable (Outcome<R.Response>) async -> Void)?
  private let after: (@Sendable (Outcome<R.Response>) -> Void)?
  private let decoder: ResponseDecoder<R.Response>
  let decodes: Bool
  let input: DecoderInput
  nonisolated(unsafe) private var value: R.Response?  // set by the run's work, read only after its end

  private let onCached: (@Sendable (CallInfo, Outcome<R.Response>) -> Void)?

  /// - Parameters:
  ///   - decodes: True if the call decodes a value from its response. If `decodes` is false, the hooks are not called.
  ///   - onCached: Receives the stored response of a `cachedThenFresh` call.
  init(
    _ request: R, decodes: Bool = true, onCached: (@Sendable (CallInfo, Outcome<R.Response>) -> Void)? = nil
  ) {
    self.request = request
    self.decodes = decodes
    self.onCached = onCached
    let delivery = request.delivery
    (before, after) = decodes ? (delivery.beforeCompletion, delivery.afterCompletion) : (nil, nil)
    (accessories, indicator) = (delivery.accessories, delivery.indicator)
    overlap = request.overlap
    decoder = request.decoder
    input = decoder.input
  }

  func build(
    _ builder: RequestBuilder, _ family: SharedFamily?, _ options: CallOptions, _ formats: Formats
  ) throws(APIError) -> HTTPRequest {
    try builder.build(request, family, options, input, formats)
  }

  var givesCachedFirst: Bool { onCached != nil }

  var hasHooks: Bool { before != nil || after != nil }

  func decodedRules(_ plan: CallPlan, _ rules: DecodingRules) -> DecodedRules? {
    guard input.isByType(rules.format) else { return nil }
    return DecodedRules(type: R.self, plan.rules, json: rules.json)
  }

  func decode(_ response: HTTPResponse, _ rules: DecodingRules, kept: DecodedRules?) -> APIError? {
    guard decodes else { return nil }
    // The stored value is unwrapped and cast in two steps. If `Response` is an optional type, a single cast would turn
    // a missing value into a stored nil.
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
      if (error as? JSONDecodingError)?.kind == .notJSON, let page = HTMLPage(response) {
        return APIError(.decode, .decoding, page.message(response.head), cause: error)
      }
      let name = input.name(in: rules.format)
      let reason = AppErrorText.of(error) + Self.cure(for: error, rules.envelope)
      let clause = "the response could not be decoded as \(name): \(reason)"
      return APIError(.decode, .decoding, APIError.sentence(clause), cause: error)
    }
  }

  private static func cure(for error: any Error, _ envelope: Envelope) -> String {
    guard let error = error as? JSONDecodingError else { return "" }
    if error.kind == .empty { return "; if an empty body is expected, use `Nothing` as the response type" }
    let (found, whole) = (error.path.steps.count, envelope.value.steps.count)
    let isOutside = found < whole || found == whole && whole > 0 && error.kind == .missingKey
    return isOutside
      ? "; if this response has no envelope, declare `validation` as `ResponseValidation(envelope: .none)`" : ""
  }

  func epochDates(in response: HTTPResponse, _ rules: DecodingRules) -> JSONEpochDates {
    decodes ? decoder.epochDates(in: response, rules) : .none
  }

  func errorBody(of response: HTTPResponse, _ rules: DecodingRules) -> ReadErrorBody {
    do {
      let body = try ResponseDecoder<R.ErrorBody>.automatic.decode(response, rules)
      return ReadErrorBody(body: body, message: (body as? any LocalizedError)?.errorDescription)
    } catch {
      guard !response.body.isEmpty else { return ReadErrorBody() }
      let reason =
        HTMLPage(response).map { "the body is an HTML page, which begins with \($0.beginning)" }
        ?? "the body does not fit the `ErrorBody` of the request: \(error)"
      return ReadErrorBody(failure: APIError.ended("`body(as: \(R.ErrorBody.self).self)` is nil, because \(reason)"))
    }
  }

  func hook(before ending: Outcome<Void>) -> (@Sendable () async -> Void)? {
    guard let before else { return nil }
    let outcome = outcome(ending)
    return { await before(outcome) }
  }

  func hook(after ending: Outcome<Void>) -> (@Sendable () -> Void)? {
    guard let after else { return nil }
    let outcome = outcome(ending)
    return { after(outcome) }
  }

  func cachedJob(_ info: CallInfo, _ ending: Outcome<Void>) -> (@Sendable () -> Void)? {
    guard let onCached else { return nil }
    let outcome = outcome(ending)
    return { onCached(info, outcome) }
  }

  func value(of ending: Outcome<Void>) throws(APIError) -> R.Response {
    if let error = ending.error { throw error }
    guard let value else { throw .fault(.decode, .decoding, "The call ended without a value and without an error.") }
    return value
  }

  func outcome(_ ending: Outcome<Void>) -> Outcome<R.Response> {
    ending.with(Result { () throws(APIError) in try value(of: ending) })
  }
}
