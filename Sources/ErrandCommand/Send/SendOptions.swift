import Errand

/// The parsed arguments of `errand send`.
struct SendOptions: Sendable, Equatable {
  /// One argument of the form `name=value` or `name:=json`.
  struct Item: Sendable, Equatable {
    let name: String
    let value: JSONValue
  }

  /// One `-H` option: a field and its value. The value is nil if the field must not be sent.
  struct Field: Sendable, Equatable {
    let name: String
    let value: String?
  }

  var method: String?
  var url = ""
  var items: [Item] = []
  var fields: [Field] = []
  var format: ArgumentFormat?
  var shape: JSONShape?
  var timeout: Duration?
  var credential: RequestCredential = .none
  /// The file to write to; nil for standard output.
  var output: String?
  /// The folder of the cache; nil to use no cache.
  var cacheFolder: String?
  var cacheMode = CacheReadMode.asDeclared
  /// The lifetime of the stored response; nil to follow the caching rules of HTTP.
  var lifetime: Duration?
  /// The tag of the stored response, by which the response can be removed later; nil for no tag.
  var tag: String?
  var isVerbose = false
  var followsRedirects = true
  var usesProxy = true

  /// The method to send: by default POST if the request has a body, otherwise GET.
  var sentMethod: HTTPMethod {
    if let method { return HTTPMethod(method) }
    return !items.isEmpty && (format == .json || format == .form) ? .post : .get
  }
}
