/// One operation of a document, and the request that is generated for it.
final class Operation {
  /// A stored property of the request.
  struct Property {
    let name: String
    let type: TypeUse
    /// The type as it is written, if it is none of a schema.
    let typeText: String
    let doc: [String]
    var isOptional: Bool { typeText.last == "?" }
  }

  struct Parameter {
    enum Place: String { case path, query, header, cookie }
    /// How a list is written in a query.
    enum Lists { case repeated, brackets, joined(String) }

    let place: Place
    let key: String
    let property: Property
    var lists = Lists.repeated
    /// Whether the members of the value are arguments of their own.
    var isSpread = false
    /// Whether the value may contain slashes (`x-multi-segment`).
    var isSegments = false
    var schema: Cursor?
  }

  enum Body {
    /// JSON, with its media type if that is none of the usual ones.
    case json(Property, type: String?)
    case form(Property)
    case multipart([Part])
    case text(Property, String)
    case bytes(Property)
  }

  struct Part {
    enum Kind { case text, json, file }
    let key: String
    let property: Property
    let kind: Kind
    let isList: Bool
  }

  enum ResultBody { case nothing, text, data, problem, json(TypeUse) }

  let cursor: Cursor
  let method: String
  let path: String
  /// The model that holds the nested types of the request.
  let model: Model
  var parameters: [Parameter] = []
  var body: Body?
  var response = ResultBody.nothing
  var errorBody: ResultBody?
  /// How the pages follow each other; nil if the response is not one page of several.
  var paging: Paging?
  /// Whether the operation needs no credential although others do.
  var isOpen = false
  /// The absolute URL of the only server that has the operation, without a slash at its end.
  var server: String?
  /// Whether lists in a form have indexes, because the document encodes them as deep objects.
  var hasIndexedForm = false

  init(_ cursor: Cursor, method: String, path: String, model: Model) {
    self.cursor = cursor
    self.method = method
    self.path = path
    self.model = model
  }

  /// The stored properties: those without a default first.
  var properties: [Property] {
    var all = parameters.map(\.property)
    switch body {
    case .json(let property, _), .form(let property), .text(let property, _), .bytes(let property): all.append(property)
    case .multipart(let parts): all += parts.map(\.property)
    case nil: break
    }
    return all.filter { !$0.isOptional } + all.filter(\.isOptional)
  }

  /// The name of the request for an operation: its `operationId`, or its method and path.
  static func name(_ cursor: Cursor, method: String, path: String) -> String {
    guard let id = cursor.text("operationId"), !id.isEmpty else { return nameOfPath(method, path) }
    // FastAPI adds path and method to the name of its function.
    let mangled = "_" + path.dropFirst().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? "\($0)" : "_" }.joined()
    let ending = "\(mangled)_\(method)"
    let plain = id.hasSuffix(ending) ? String(id.dropLast(ending.count)) : id
    return SwiftName.type(plain.isEmpty ? id : plain)
  }

  private static func nameOfPath(_ method: String, _ path: String) -> String {
    let segments = path.split(separator: "/").map(String.init)
    var words = [method]
    for (index, segment) in segments.enumerated() where !segment.hasPrefix("{") {
      let isOne = index + 1 < segments.count && segments[index + 1].hasPrefix("{")
      words.append(isOne && segment.hasSuffix("s") ? SwiftName.singular(segment) : segment)
    }
    return SwiftName.type(words.joined(separator: "-"))
  }
}
