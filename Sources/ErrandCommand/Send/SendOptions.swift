import Errand

/// What the words behind `errand send` ask for.
struct SendOptions: Sendable, Equatable {
  /// One `name=value` or `name:=json`.
  struct Item: Sendable, Equatable {
    let name: String
    let value: JSONValue
  }

  /// One `-H`: a value, or none for a field that is not to be sent.
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
  /// The folder of the store that answers are kept in; nil for none.
  var cacheFolder: String?
  var cacheMode = CacheReadMode.asDeclared
  /// The declared lifetime; nil for HTTP's own rules.
  var lifetime: Duration?
  /// What the stored answer is called, to remove it by.
  var tag: String?
  var isVerbose = false
  var followsRedirects = true
  var usesProxy = true

  /// The method as it is sent: where none is given, POST for a body and GET otherwise.
  var sentMethod: HTTPMethod {
    if let method { return HTTPMethod(method) }
    return !items.isEmpty && (format == .json || format == .form) ? .post : .get
  }
}
