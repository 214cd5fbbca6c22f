/// The requests and responses of one exchange with its proxy, as far as they concern authentication. All exchanges of a
/// transport share the ``ProxyAuthentication`` of the proxy.
package struct ProxyDialogue: Sendable {
  /// The maximum number of times that a request is sent again because its proxy asks for another answer: without an
  /// answer first, and once more if the proxy has forgotten its nonce.
  private static let mostChallenges = 2

  /// The answer in the last request. Nil if there are no credentials for the proxy.
  private var answer: ProxyAuthentication.Answer?
  /// The number of times that the proxy asked for another answer.
  private var challenges = 0
  /// Whether the body has waited for status 100 because the proxy may ask for another answer.
  private var hasAwaited = false

  package init() {}

  /// Returns the value of `Proxy-Authorization` for the next request. Returns nil if the request contains no
  /// credentials. `target` is the request target: the whole URL, or `host:port` for CONNECT.
  package mutating func authorization(
    by authentication: inout ProxyAuthentication, method: String, target: @autoclosure () -> String
  ) -> String? {
    let answer = authentication.answer(method: method, target: target())
    self.answer = answer
    return answer.value
  }

  /// Takes the response of the proxy to the last request. Returns true if the proxy has asked for another answer and
  /// the request may be sent again.
  package mutating func takeResponse(_ head: ResponseHead, to authentication: inout ProxyAuthentication?) -> Bool {
    guard let answer else { return false }
    guard head.status == 407 else {
      authentication?.accepted(head.fields, after: answer)
      return false
    }
    guard authentication?.isAnswerable(head.fields, after: answer) == true, challenges < Self.mostChallenges else {
      return false
    }
    challenges += 1
    return true
  }

  /// Lets a body that can be read only once wait for status 100 if the proxy may ask for another answer. Otherwise the
  /// body would be lost if the proxy responds with status 407. Returns true if the body must wait, at most once.
  package mutating func beginWait(
    of body: HTTPBody?, _ upload: BodyUpload?, _ authentication: ProxyAuthentication?
  ) -> Bool {
    guard authentication?.mayAskAgain == true, upload?.hasEnded == false, body?.isReplayable == false, !hasAwaited
    else { return false }
    hasAwaited = true
    return true
  }
}
