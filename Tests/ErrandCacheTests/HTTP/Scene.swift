import Foundation

@testable import ErrandCache
@testable import ErrandCore

/// One request, one stored response and one point in time, in a short notation for tables.
///
/// The response arrived at 08:49:37 GMT on 6 November 1994, without delay and with that `Date`. Times are seconds after
/// it.
enum Scene {
  static let start = WallTime(milliseconds: 784_111_777_000)
  static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  static let salt: [UInt8] = [9, 9]

  static func date(_ seconds: Int64) -> String { HTTPDate.text(start.advanced(byMilliseconds: seconds * 1_000)) }

  static func at(_ seconds: Double) -> CacheMoment { at(wall: seconds, monotonic: seconds) }

  static func at(wall: Double, monotonic: Double) -> CacheMoment {
    CacheMoment(
      wall: start.advanced(byMilliseconds: Int64(wall * 1_000)),
      monotonic: MonotonicInstant(nanoseconds: 0).advanced(by: .milliseconds(Int64(monotonic * 1_000))))
  }

  /// Parses fields such as `Vary: Accept | ETag: "x"`.
  static func fields(_ text: String) -> HTTPFields {
    HTTPFields(
      text.components(separatedBy: " | ").filter { !$0.isEmpty }.map { line in
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return HTTPField(
          HTTPFieldName(String(parts[0])), parts.last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
      })
  }

  static func rules(
    _ method: HTTPMethod = .get, _ request: String = "", policy: CachePolicy = .http,
    mode: CacheReadMode = .asDeclared, url: String = "https://h/a", appVersion: String = ""
  ) throws -> CacheRules {
    CacheRules(
      try HTTPRequest(method: method, url: url, fields: fields(request)), policy: policy, mode: mode,
      appVersion: appVersion, salt: salt)
  }

  static func response(
    _ status: Int, _ text: String = "", length: Int = 2, isComplete: Bool = true, isAccepted: Bool = true,
    sent: Double = 0, came: Double = 0, changedFields: Set<String> = []
  ) -> ReceivedResponse {
    var response = ReceivedResponse(
      head: ResponseHead(status: status, fields: fields(text)), bodyLength: length, isComplete: isComplete,
      isAccepted: isAccepted, requestTime: at(sent).wall, responseTime: at(came).wall, received: at(came).monotonic)
    response.changedFields = changedFields
    return response
  }

  /// The head that is stored for a response, whether the response may be stored or not.
  static func stored(
    _ text: String, status: Int = 200, request: String = "", method: HTTPMethod = .get, policy: CachePolicy = .http,
    sent: Double = 0, came: Double = 0, appVersion: String = "", isFromDisk: Bool = false
  ) -> CacheEntryHead {
    let all = fields(text)
    let varying = Varying(response: all, request: fields(request), changedFields: [], isDeclared: false, salt: salt)
    var vary: [VaryingField] = []
    if case .fields(let named) = varying { vary = named }
    return CacheEntryHead(
      variant: Varying.variant(of: vary, method: method, salt: salt), vary: vary,
      answer: ResponseHead(status: status, fields: all.contains(.date) ? all : fields(text + " | Date: \(date)")),
      requestTime: at(sent).wall, responseTime: at(came).wall, received: isFromDisk ? nil : at(came).monotonic,
      policy: policy, appVersion: appVersion,
      label: CacheEntryLabel(method: method.rawValue, url: "https://h/a", host: "h", tag: nil))
  }

  /// The decision in one or two words.
  static func word(_ decision: CacheDecision) -> String {
    switch decision {
    case .serve(let serving): serving.reason.rawValue
    case .notModified: "304"
    case .validate: "validate"
    case .fetch(let miss): "fetch \(miss.rawValue)"
    case .bypass(let bypass): "bypass \(bypass.rawValue)"
    case .gatewayTimeout: "504"
    case .fail(let miss): "fail \(miss.rawValue)"
    }
  }

  /// The decision in one or two words for one stored response with status 200.
  static func verdict(
    _ stored: String, after seconds: Double, _ request: String = "", mode: CacheReadMode = .asDeclared,
    policy: CachePolicy = .http
  ) throws -> String {
    let head = Self.stored(stored, request: request, policy: policy)
    return word(try rules(.get, request, policy: policy, mode: mode).decide(among: [head], at: at(seconds)).decision)
  }

  static func word(_ decision: StoringDecision) -> String {
    switch decision {
    case .store(let head): head.isMemoryOnly ? "memory" : "store"
    case .storeForGet: "for GET"
    case .refuse(let refusal): refusal.rawValue
    }
  }

  static func word(_ renewal: CacheRenewal) -> String {
    switch renewal {
    case .renewed: "renewed"
    case .last: "last"
    case .unstored: "unstored"
    case .outdated: "outdated"
    case .unrelated: "unrelated"
    }
  }
}

extension CacheRules {
  /// The whole decision: selects one of the stored responses, which are ordered newest first, and decides about it.
  func decide(among heads: [CacheEntryHead], at now: CacheMoment) -> (index: Int?, decision: CacheDecision) {
    if let decision = decideBeforeLookup() { return (nil, decision) }
    guard let index = choice(among: heads) else { return (nil, decide(without: miss(among: heads))) }
    return (index, decide(heads[index], at: now))
  }
}
