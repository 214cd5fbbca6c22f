import Errand
import ErrandCore
import ErrandHTTP

/// A text request in which a test can set every property.
struct JoinText: APIRequest {
  typealias Response = String
  var path: Path = "/text"
  var method = HTTPMethod.get
  var arguments = Arguments()
  var headers = RequestHeaders()
  var credential = RequestCredential.inherited
  var timeouts: Timeouts = .inherited
  var redirects: RedirectPolicy = .inherited
  var network = NetworkWish()
  var retries = RetryPolicy.inherited
  var idempotency = Idempotency.byMethod
  var statusRule: StatusRule = .inherited
  var cache = CachePolicy.inherited
  var joining = JoinRule.inherited
  var overlap: Overlap { Overlap(joining: joining) }
  var validation: ResponseValidation { ResponseValidation(status: statusRule) }
}
