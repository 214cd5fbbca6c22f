import Errand

/// A text whose parts a test can choose.
struct JoinText: APIRequest {
  typealias Response = String
  var path: Path = "/text"
  var method = HTTPMethod.get
  var arguments = Arguments()
  var headers = RequestHeaders()
  var credential = RequestCredential.inherited
  var timeouts: Timeouts?
  var redirects: RedirectPolicy?
  var network = NetworkWish()
  var statusRule: StatusRule?
  var cache = CachePolicy.inherited
  var cacheKey = CacheKeyRule()
  var joining = JoinRule.inherited
}
