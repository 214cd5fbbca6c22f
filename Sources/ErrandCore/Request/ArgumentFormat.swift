/// Where the arguments of a request go.
public enum ArgumentFormat: Sendable, Hashable {
  /// Into the query for GET, HEAD and DELETE, into a form body for the rest. Where the request has a body of its own,
  /// into the query.
  case byMethod
  /// Into the query.
  case query
  /// Into a body of type `application/x-www-form-urlencoded`, for any method.
  case form
  /// Into a body of type `application/json`, for any method.
  case json
}
