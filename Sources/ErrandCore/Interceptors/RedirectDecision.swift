import Foundation

/// The decision about a response that may be a redirect (RFC 9110 section 15.4). A pure function makes the decision.
package enum RedirectDecision: Sendable {
  /// The response is returned to the caller.
  case deliver
  case follow(HTTPRequest)
  case fail(APIError)

  /// Decides whether a response is returned, followed as a redirect, or fails the call.
  ///
  /// - Parameters:
  ///   - asked: The URL that was actually requested, which may be a URL of a fallback server; nil for the URL of
  ///     `request`.
  ///   - visited: All requests of the call so far.
  ///   - loopStart: The index in `visited` of the first request that counts for loop detection. Earlier requests do not
  ///     count, because they were sent with other cookies.
  ///   - hosts: Servers that give the same responses. A redirect between two of these servers does not count as a
  ///     redirect to another origin.
  static func decide(
    _ response: HTTPResponse, to request: HTTPRequest, asked: HTTPURL? = nil, visited: [HTTPRequest],
    from loopStart: Int = 0, hosts: HostList? = nil, policy: RedirectPolicy
  ) -> RedirectDecision {
    guard StatusRule.isRedirect(response.status), policy.mode != .manual else { return .deliver }
    guard policy.mode == .follow else {
      return fail(
        .redirectRefused,
        "The server redirected with status \(response.status), but the redirect policy is `RedirectPolicy.never`")
    }
    guard let location = response.fields.single(.location) else {
      let isMissing = !response.fields.contains(.location)
      let found = isMissing ? "no Location field" : "several different Location fields"
      return fail(
        .invalidRedirect, "The server redirected with status \(response.status), but the response has \(found)")
    }
    guard visited.count <= policy.limit else {
      return fail(
        .tooManyRedirects,
        "The call was redirected more than \(policy.limit) times; "
          + "to allow more redirects, raise `limit` in the redirect policy")
    }
    do {
      let asked = asked ?? request.url
      let target = try asked.resolving(location)
      let (status, others) = (response.status, visited.dropFirst(loopStart))
      let home = { hosts?.home(of: $0) ?? $0 }
      let isElsewhere = home(target.origin) != home(asked.origin)
      return follow(target, after: status, from: request, asked, isElsewhere: isElsewhere, others, policy)
    } catch {
      return fail(.invalidRedirect, "The redirect cannot be followed: \(error)")
    }
  }

  package static func isFollowed(_ response: HTTPResponse, to request: HTTPRequest, policy: RedirectPolicy) -> Bool {
    guard StatusRule.isRedirect(response.status) else { return false }
    if case .follow = decide(response, to: request, visited: [request], policy: policy) { return true }
    return false
  }

  /// Whether a field is not sent to another origin than its request: it is marked as secret, or its name suggests a
  /// secret and the policy does not list it.
  package static func isWithheld(_ field: HTTPField, by policy: RedirectPolicy) -> Bool {
    if field.isSecret { return true }
    guard SecretName.isSecret(field.name), field.name != "Idempotency-Key" else { return false }
    return !policy.resendsFieldsElsewhere.contains(field.name)
  }

  private static func follow(
    _ target: HTTPURL, after status: Int, from request: HTTPRequest, _ asked: HTTPURL, isElsewhere: Bool,
    _ visited: ArraySlice<HTTPRequest>, _ policy: RedirectPolicy
  ) -> RedirectDecision {
    if asked.scheme == .https, target.scheme == .http, !policy.allowsDowngrade {
      return fail(
        .redirectRefused,
        "The redirect leads from https to http at \(target.origin); "
          + "to allow this, set `allowsDowngrade` in the redirect policy")
    }
    var hop = request
    hop.url = target
    changeMethod(&hop, status)
    if isElsewhere {
      if hop.body.map({ $0.length != 0 }) == true, !policy.resendsBodyElsewhere {
        return fail(
          .redirectRefused,
          "The redirect would send the body to \(target.origin); "
            + "to allow this, set `resendsBodyElsewhere` in the redirect policy")
      }
      hop.fields.removeAll { isWithheld($0, by: policy) }
    }
    if hop.body?.isUsedUp == true {
      return fail(
        .redirectRefused,
        "The redirect with status \(status) requires the request body again, but the body cannot be sent again: "
          + HTTPBody.usedUpClause)
    }
    // The first return to a URL is allowed, because a server may set a cookie and then redirect to the same URL. The
    // second return is a loop.
    if visited.count(where: { $0.url == hop.url && $0.method == hop.method }) > 1 {
      return fail(.redirectLoop, "The redirects form a loop: they lead back to \(target)")
    }
    return .follow(hop)
  }

  /// Changes the method after a redirect: status 303 turns every method except HEAD into GET, and 301 and 302 turn POST
  /// into GET (RFC 9110 sections 15.4.2 to 15.4.4).
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

  /// The fields that describe a request body and do not start with `Content-` (RFC 9110 section 15.4, RFC 9530). These
  /// fields are removed when a redirect removes the body.
  private static let ofBody: Set<HTTPFieldName> = ["Digest", "Repr-Digest", "Last-Modified"]

  private static func fail(_ code: APIError.Code, _ clause: String) -> RedirectDecision {
    .fail(APIError(.redirect, code, clause + "."))
  }
}
