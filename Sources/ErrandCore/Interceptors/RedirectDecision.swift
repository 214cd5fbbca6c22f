import Foundation

/// The decision about a response that may be a redirect (RFC 9110 section 15.4). It is made by a pure function.
package enum RedirectDecision: Sendable {
  /// The response goes to the caller.
  case deliver
  /// The redirect is followed: this request is sent next.
  case follow(HTTPRequest)
  /// The call ends with this error.
  case fail(APIError)

  /// - Parameters:
  ///   - asked: The URL that was requested if it differs from the request's URL because a fallback server was used.
  ///   - visited: All requests of the call so far.
  ///   - circle: The index in `visited` of the first request that counts for loop detection. Earlier requests had other
  ///     cookies.
  ///   - hosts: Servers that give the same responses. A redirect from one of them to another is not cross-origin.
  static func decide(
    _ response: HTTPResponse, to request: HTTPRequest, asked: HTTPURL? = nil, visited: [HTTPRequest],
    from circle: Int = 0, hosts: HostList? = nil, policy: RedirectPolicy
  ) -> RedirectDecision {
    guard StatusRule.isRedirect(response.status), policy.mode != .manual else { return .deliver }
    guard policy.mode == .follow else {
      return fail(
        .redirectRefused, "The server redirected with \(response.status), but the policy is `RedirectPolicy.never`")
    }
    let locations = Set(response.fields.references(of: .location))
    guard let location = locations.first, locations.count == 1 else {
      let found = locations.isEmpty ? "without a Location" : "with several Locations"
      return fail(.invalidRedirect, "The server redirected with \(response.status) \(found)")
    }
    guard visited.count <= policy.limit else {
      return fail(.tooManyRedirects, "The call was redirected more than \(policy.limit) times")
    }
    do {
      let asked = asked ?? request.url
      let target = try asked.resolving(location)
      let (status, others) = (response.status, visited.dropFirst(circle))
      let home = { hosts?.home(of: $0) ?? $0 }
      let isElsewhere = home(target.origin) != home(asked.origin)
      return follow(target, after: status, from: request, asked, isElsewhere: isElsewhere, others, policy)
    } catch {
      return fail(.invalidRedirect, "The redirect cannot be followed: \(error)")
    }
  }

  /// Whether this response is a redirect that the policy follows.
  package static func isFollowed(_ response: HTTPResponse, to request: HTTPRequest, policy: RedirectPolicy) -> Bool {
    guard StatusRule.isRedirect(response.status) else { return false }
    if case .follow = decide(response, to: request, visited: [request], policy: policy) { return true }
    return false
  }

  private static func follow(
    _ target: HTTPURL, after status: Int, from request: HTTPRequest, _ asked: HTTPURL, isElsewhere: Bool,
    _ visited: ArraySlice<HTTPRequest>, _ policy: RedirectPolicy
  ) -> RedirectDecision {
    if asked.scheme == .https, target.scheme == .http, !policy.allowsDowngrade {
      return fail(
        .redirectRefused,
        "The redirect leads from https to http at \(target.origin); to allow this, set `allowsDowngrade` in the policy")
    }
    var hop = request
    hop.url = target
    changeMethod(&hop, status)
    if isElsewhere {
      if hop.body.map({ $0.length != 0 }) == true, !policy.resendsBodyElsewhere {
        return fail(
          .redirectRefused,
          "The redirect would send the body to \(target.origin); "
            + "to allow this, set `resendsBodyElsewhere` in the policy")
      }
      hop.fields.removeAll { $0.isSecret }
    }
    if hop.body?.isUsedUp == true {
      return fail(
        .redirectRefused,
        "The redirect with \(status) needs the body again, but it cannot be sent again: \(HTTPBody.usedUpClause)")
    }
    // A first return is no loop: servers set a cookie and redirect back to the same URL.
    if visited.count(where: { $0.url == hop.url && $0.method == hop.method }) > 1 {
      return fail(.redirectLoop, "The redirects form a loop: they lead back to \(target)")
    }
    return .follow(hop)
  }

  /// 303 turns every method except HEAD into GET; 301 and 302 turn POST into GET (RFC 9110 sections 15.4.2 to 15.4.4).
  private static func changeMethod(_ hop: inout HTTPRequest, _ status: Int) {
    let becomesGet =
      switch status {
      case 303: hop.method != .head && hop.method != .get
      case 301, 302: hop.method == .post
      default: false
      }
    guard becomesGet else { return }
    hop.method = .get
    hop.body = nil
    hop.fields.removeAll { $0.name.rawValue.lowercased().hasPrefix("content-") || ofBody.contains($0.name) }
  }

  /// Fields that describe a body and do not start with `Content-` (RFC 9110 section 15.4, RFC 9530).
  private static let ofBody: Set<HTTPFieldName> = ["Digest", "Repr-Digest", "Last-Modified"]

  private static func fail(_ code: APIError.Code, _ clause: String) -> RedirectDecision {
    .fail(APIError(.redirect, code, clause + "."))
  }
}
