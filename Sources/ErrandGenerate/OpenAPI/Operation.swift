/// One operation of a document, and the request that is generated for it.
final class Operation {
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
    enum Kind {
      case text, json
      /// A file, with its media type if the document allows only one.
      case file(type: String?)
    }

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

/// How the pages of an operation follow each other.
struct Paging {
  /// The place of a value in a response: the properties that lead to it. The list is empty for the response itself.
  struct Place {
    var steps: [Model.Property] = []

    var type: TypeUse? { steps.last?.type }
    var isOptional: Bool { steps.contains { $0.type.isOptional } }

    /// An expression for the value, for example `page.value.meta?.nextCursor`.
    func text(in root: String) -> String {
      var text = root
      for (index, step) in steps.enumerated() {
        let mark = index > 0 && steps[index - 1].type.isOptional ? "?" : ""
        text += "\(mark).\(SwiftName.escaped(step.name))"
      }
      return text
    }
  }

  /// How the argument for the next page is found.
  enum Next {
    /// The response contains it, and perhaps whether there is a next page.
    case value(Place, more: Place?)
    /// It is the `id` of the last item, if the response says that there are more.
    case lastItem(id: Model.Property, more: Place)
    /// It is a number that grows by one while the response says that there are more.
    case page(first: String, more: Place)
    /// It is a number that grows by one up to the number of pages. `own` is the number in the response.
    case pages(first: String?, own: Place?, count: Place)
    /// It grows by the number of items while the response says that there are more.
    case offsetMore(first: String, more: Place)
    /// It grows by the number of items up to the number of all items.
    case offset(first: String, total: Place)
    /// It is an argument of the URL of the next page: in the response, or in the field `Link` if there is no place.
    case link(Place?)
  }

  /// The parameter of the query that chooses the page.
  let parameter: Operation.Parameter
  let items: Place
  let element: TypeUse
  let next: Next
}

extension Paging {
  /// The kinds of parameters that choose a page.
  enum Kind: String {
    case cursor, page, offset

    /// The kind of a parameter with this name; nil for other parameters.
    init?(_ name: String) {
      let plain = Paging.plain(name)
      let kinds: [(Kind, Set<String>)] = [
        (
          .cursor,
          [
            "cursor", "after", "startingafter", "pagetoken", "nexttoken", "nextpagetoken", "nextcursor", "pagecursor",
            "aftercursor", "continuationtoken", "startcursor", "pageafter",
          ]
        ),
        (.page, ["page", "pagenumber", "pageno", "pagenum"]), (.offset, ["offset", "skip", "pageoffset", "startat"]),
      ]
      guard let kind = kinds.first(where: { $0.1.contains(plain) })?.0 else { return nil }
      self = kind
    }
  }

  /// A name without signs and capitals, so that `nextCursor` and `next_cursor` are the same.
  static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
}
