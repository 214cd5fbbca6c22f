/// Reads operations. What the library cannot send is reported.
struct OperationReader {
  let files: DocumentFiles
  let models: ModelBuilder

  static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

  func read(_ operation: Operation, item: Cursor) {
    var names = SwiftName.reservedMembers
    readParameters(operation, item, &names)
    if let body = operation.cursor["requestBody"].flatMap({ files.resolved($0) }) {
      readBody(operation, body, &names)
    }
    readResponses(operation)
    if let security = operation.cursor["security"] {
      operation.isOpen = security.elements.allSatisfy { $0.members.isEmpty }
    }
    operation.server = server(of: operation, item)
  }

  /// The server that an operation or a path names for itself, if the request can use it.
  private func server(of operation: Operation, _ item: Cursor) -> String? {
    guard let server = (operation.cursor["servers"] ?? item["servers"])?.elements.first,
      var url = FamilyWriter.url(server), url != files.root["servers"]?.elements.first.flatMap(FamilyWriter.url)
    else { return nil }
    guard ["http://", "https://"].contains(where: { url.lowercased().hasPrefix($0) }) else {
      files.note(server, "the server “\(url)” is not absolute; the request uses the base URL of the client")
      return nil
    }
    guard PathTemplate(url).variables.isEmpty else {
      files.note(
        server, "a variable of the server “\(url)” has no default; the request uses the base URL of the client")
      return nil
    }
    while url.hasSuffix("/") { url.removeLast() }
    return operation.path.hasPrefix("/") ? url : url + "/"
  }

  // MARK: - Parameters

  private func readParameters(_ operation: Operation, _ item: Cursor, _ names: inout Set<String>) {
    var found: [(key: String, cursor: Cursor)] = []
    for cursor in [item, operation.cursor].flatMap({ $0["parameters"]?.elements ?? [] }) {
      guard let parameter = files.resolved(cursor), let name = parameter.text("name") else { continue }
      let key = "\(parameter.text("in") ?? "") \(name)"
      if let place = found.firstIndex(where: { $0.key == key }) {
        found[place].cursor = parameter
      } else {
        found.append((key, parameter))
      }
    }
    for (_, cursor) in found { readParameter(operation, cursor, &names) }
    var known = Set(operation.parameters.filter { $0.place == .path }.map(\.key))
    for name in PathTemplate(operation.path).variables where known.insert(name).inserted {
      files.note(operation.cursor, "the path variable “\(name)” is not declared; it becomes a string")
      let property = property(name, .builtin(.string), isRequired: true, doc: [], &names)
      operation.parameters.append(Operation.Parameter(place: .path, key: name, property: property))
    }
  }

  private func readParameter(_ operation: Operation, _ cursor: Cursor, _ names: inout Set<String>) {
    guard let key = cursor.text("name"), let place = Operation.Parameter.Place(rawValue: cursor.text("in") ?? "") else {
      return files.note(cursor, "the place “\(cursor.text("in") ?? "")” of the parameter is unknown")
    }
    if place == .path, !PathTemplate(operation.path).variables.contains(key) {
      return files.note(cursor, "the path has no variable “\(key)”; the parameter is not generated")
    }
    if place == .header, ["accept", "content-type", "authorization"].contains(key.lowercased()) { return }
    let isRequired = cursor.isTrue("required") || place == .path
    guard let schema = cursor["schema"] else {
      if cursor["content"] != nil {
        files.note(cursor, "the parameter is sent as text; its content must be encoded by the caller")
      }
      let property = property(key, .builtin(.string), isRequired: isRequired, doc: SchemaDoc.paragraphs(cursor), &names)
      return operation.parameters.append(Operation.Parameter(place: place, key: key, property: property))
    }
    let type = models.type(of: schema, name: Self.typeName(key), in: operation.model).withoutNull
    var doc = SchemaDoc.paragraphs(cursor)
    if let value = schema.node["default"]?.scalarText { doc.append("The server's default is `\(value)`.") }
    let isObject = place == .query && !type.isArgument && isObject(schema)
    let usable: TypeUse = type.isArgument || isObject ? type : .builtin(.string)
    if case .builtin(.string) = usable, !type.isArgument {
      files.note(cursor, "a parameter in the \(place.rawValue) cannot have the type \(type.text); it becomes a string")
    }
    let property = property(key, usable, isRequired: isRequired, doc: doc, &names)
    var parameter = Operation.Parameter(place: place, key: key, property: property, schema: schema)
    readStyle(&parameter, cursor, isObject: isObject)
    operation.parameters.append(parameter)
  }

  /// Whether all values of a schema are objects.
  private func isObject(_ schema: Cursor) -> Bool {
    func isOne(_ shape: SchemaShape?) -> Bool {
      switch shape {
      case .object, .map: true
      default: false
      }
    }
    let shape = models.schemas.finalShape(of: schema)
    guard case .union(let members, _) = shape else { return isOne(shape) }
    return members.allSatisfy { isOne(models.schemas.finalShape(of: $0)) }
  }

  /// The name of a type for a parameter without a type of its own. Some names belong to the request.
  private static func typeName(_ key: String) -> String {
    let name = SwiftName.type(key)
    return ["Content", "Failure", "Response"].contains(name) ? "\(name)Value" : name
  }

  private func readStyle(_ parameter: inout Operation.Parameter, _ cursor: Cursor, isObject: Bool) {
    let style = cursor.text("style") ?? (parameter.place == .query || parameter.place == .cookie ? "form" : "simple")
    let explodes = cursor.node["explode"]?.bool ?? (style == "form" || style == "deepObject")
    parameter.isSegments = cursor.isTrue("x-multi-segment")
    switch style {
    case "form":
      parameter.isSpread = isObject && explodes
      if !explodes { parameter.lists = .joined(",") }
      if isObject, !explodes { files.note(cursor, "an object without `explode` is sent with brackets") }
    case "deepObject": parameter.lists = .brackets
    case "pipeDelimited", "spaceDelimited":
      parameter.lists = explodes ? .repeated : .joined(style == "pipeDelimited" ? "|" : " ")
      if isObject { files.note(cursor, "an object of the style “\(style)” is sent with brackets") }
    case "simple": parameter.lists = .joined(",")
    default: files.note(cursor, "the style “\(style)” is not supported; the value is sent as it is")
    }
  }

  private func property(
    _ key: String, _ type: TypeUse, isRequired: Bool, doc: [String], _ names: inout Set<String>, text: String? = nil
  ) -> Operation.Property {
    let plain = SwiftName.member(key)
    let wished = SwiftName.reservedMembers.contains(plain) ? "\(plain)Value" : plain
    let name = SwiftName.unique(wished) { names.contains($0) }
    names.insert(name)
    let written = text ?? type.text
    let typeText = isRequired || written.last == "?" ? written : "\(written)?"
    return Operation.Property(name: name, type: type, typeText: typeText, doc: doc)
  }

  // MARK: - Bodies

  private func readBody(_ operation: Operation, _ body: Cursor, _ names: inout Set<String>) {
    let contents = body["content"]?.members ?? []
    let ranked = contents.enumerated().sorted { left, right in
      (Self.rank(left.element.key), left.offset) < (Self.rank(right.element.key), right.offset)
    }.map(\.element)
    guard let (media, content) = ranked.first else { return }
    if ranked.count > 1 { files.note(body, "only the body of the type \(media) is generated") }
    let isRequired = body.isTrue("required")
    let doc = SchemaDoc.paragraphs(body)
    let schema = content["schema"]
    switch Self.rank(media) {
    case 0, 2:
      if Self.rank(media) == 2 { noteEncoding(of: content) }
      let type = schema.map { models.type(of: $0, name: "Content", in: operation.model).wrapped } ?? .builtin(.json)
      // FastAPI names the schema of a body of several parameters after the operation.
      let ownName = SwiftName.type("Body_\(operation.cursor.text("operationId") ?? "")")
      let name =
        if case .model(let model) = type, model.parent == nil, model.name != ownName { model.name } else { "content" }
      let property = property(name, type, isRequired: isRequired, doc: doc, &names)
      operation.hasIndexedForm =
        content["encoding"]?.members.contains { $0.value.text("style") == "deepObject" } ?? false
      let isUsual = media.lowercased() == "application/json" || media.utf8.contains(UInt8(ascii: "*"))
      operation.body = Self.rank(media) == 0 ? .json(property, type: isUsual ? nil : media) : .form(property)
    case 1: readMultipart(operation, content, &names)
    case 3:
      let type = media.utf8.contains(UInt8(ascii: "*")) ? "text/plain" : media
      operation.body = .text(property("content", .builtin(.string), isRequired: isRequired, doc: doc, &names), type)
    default:
      let hint =
        "The body: `.file(url, type: \(SwiftText.literal(media)))`, or `.bytes(data, type: \(SwiftText.literal(media)))`."
      let property = property(
        "content", .builtin(.data), isRequired: isRequired, doc: doc + [hint], &names, text: "RequestBody")
      operation.body = .bytes(property)
    }
  }

  /// The order in which the formats of a body are preferred.
  private static func rank(_ media: String) -> Int {
    if isJSON(media) { return 0 }
    if media.hasPrefix("multipart/form-data") { return 1 }
    if media.hasPrefix("application/x-www-form-urlencoded") { return 2 }
    return media.hasPrefix("text/") ? 3 : 4
  }

  static func isJSON(_ media: String) -> Bool {
    let essence = media.split(separator: ";").first.map { $0.lowercased() } ?? ""
    return essence == "application/json" || essence == "*/*" || essence.hasSuffix("+json")
  }

  /// Reports fields of a form that the document encodes in another way than the library.
  private func noteEncoding(of form: Cursor) {
    for (_, encoding) in form["encoding"]?.members ?? [] {
      if let media = encoding.text("contentType"), media.lowercased() != "text/plain" {
        files.note(encoding, "the field is not sent as \(media): an object is sent with brackets, other values as text")
      }
      let style = encoding.text("style") ?? "form"
      let isJoined = style == "form" ? encoding.node["explode"]?.bool == false : style != "deepObject"
      if isJoined { files.note(encoding, "a list in a form is sent as repeated fields, not joined") }
    }
  }

  private func readMultipart(_ operation: Operation, _ content: Cursor, _ names: inout Set<String>) {
    guard let schema = content["schema"], case .object(let parts) = models.schemas.finalShape(of: schema) else {
      return files.note(content, "a form of several parts needs a schema with properties")
    }
    let fields = parts.properties.map { key, schema -> Operation.Part in
      let isRequired = parts.required.contains(key) && !models.schemas.isReadOnly(schema)
      var element = schema
      var isList = false
      if case .array(let items?) = models.schemas.finalShape(of: schema) { (element, isList) = (items, true) }
      let doc = SchemaDoc.paragraphs(schema)
      let encoding = content["encoding"]?[key]
      if models.schemas.isFile(element) {
        let type = isList ? "[URL]" : "URL"
        let property = property(key, .builtin(.url), isRequired: isRequired, doc: doc, &names, text: type)
        let media = encoding?.text("contentType").flatMap { Self.isOneType($0) ? $0 : nil }
        return Operation.Part(key: key, property: property, kind: .file(type: media), isList: isList)
      }
      let type = models.type(of: schema, name: Self.typeName(key), in: operation.model).withoutNull
      let property = property(key, type, isRequired: isRequired, doc: doc, &names)
      let kind = kind(of: type, encoding)
      let isText = if case .text = kind { true } else { false }
      return Operation.Part(key: key, property: property, kind: kind, isList: isText && isList)
    }
    operation.body = .multipart(fields)
  }

  /// Whether a list of media types is one type without a wildcard.
  private static func isOneType(_ media: String) -> Bool {
    !media.isEmpty && !media.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "*") }
  }

  /// How a part that is no file is sent. Reports a declared media type that it does not have.
  private func kind(of type: TypeUse, _ encoding: Cursor?) -> Operation.Part.Kind {
    let single = if case .array(let single) = type { single.wrapped } else { type }
    let isText = if case .builtin(let builtin) = single { builtin != .json } else { single.rawType != nil }
    guard let encoding, let declared = encoding.text("contentType") else { return isText ? .text : .json }
    let types = declared.split(separator: ",").map { $0.lowercased().filter { $0 != " " } }
    let takesJSON = types.contains { Self.isJSON($0) || $0 == "application/*" }
    if isText, types.contains(where: { $0.hasPrefix("text/plain") || $0 == "text/*" || $0 == "*/*" }) { return .text }
    // The text of a string that is declared as JSON usually is JSON already, so it gets no quotes.
    let isString = if case .builtin(.string) = single { true } else { false }
    if takesJSON, !isString { return .json }
    files.note(encoding, "the part is sent as \(isText ? "plain text" : "JSON"), not as \(declared)")
    return isText ? .text : .json
  }

  // MARK: - Responses

  private func readResponses(_ operation: Operation) {
    let responses = operation.cursor["responses"]?.members ?? []
    let good = responses.filter { $0.key.hasPrefix("2") }.sorted { $0.key < $1.key }
    let chosen = good.isEmpty ? responses.filter { $0.key == "default" } : good
    let found = chosen.compactMap { entry in files.resolved(entry.value).map { (status: entry.key, response: $0) } }
    // An optional type needs another name than the alias `Response`.
    let name = found.allSatisfy { $0.response["content"] != nil } ? "Response" : "ResponseValue"
    // Only the first body is read: the types of another one would be declared, too.
    let full =
      operation.method == "head" ? [] : found.filter { $0.response["content"]?.members.isEmpty == false }
    operation.response = full.first.map { read($0.response, name, operation.model) } ?? .nothing
    if full.count > 1, let first = full.first {
      files.note(operation.cursor, "only the response with the status \(first.status) is generated")
    }
    if case .json(let type) = operation.response, full.count < found.count {
      operation.response = .json(type.asOptional)
    }
    let failures = responses.filter {
      $0.key.hasPrefix("4") || $0.key.hasPrefix("5") || ($0.key == "default" && !good.isEmpty)
    }
    for failure in failures where operation.errorBody == nil {
      guard let response = files.resolved(failure.value) else { continue }
      let body = read(response, "Failure", operation.model)
      switch body {
      case .json, .problem: operation.errorBody = body
      case .nothing, .text, .data: break
      }
    }
  }

  private func read(_ response: Cursor, _ name: String, _ parent: Model) -> Operation.ResultBody {
    let contents = response["content"]?.members ?? []
    guard let (media, content) = contents.first(where: { Self.isJSON($0.key) }) ?? contents.first else {
      return .nothing
    }
    if media.hasPrefix("application/problem+json") { return .problem }
    if Self.isJSON(media) {
      guard let schema = content["schema"] else { return .json(.builtin(.json)) }
      if models.schemas.isFile(schema) { return .data }
      let isPlain = name != "Response" || !models.schemas.isNullable(schema)
      return .json(models.type(of: schema, name: isPlain ? name : "ResponseValue", in: parent))
    }
    return media.hasPrefix("text/") && media != "text/event-stream" ? .text : .data
  }
}

/// A path with variables, such as `/users/{id}`.
struct PathTemplate {
  /// The literal texts and the variables in turn; the first is a literal text.
  let parts: [String]

  init(_ path: String) {
    var parts: [String] = [""]
    for character in path {
      let isInVariable = parts.count % 2 == 0
      if character == "{", !isInVariable {
        parts.append("")
      } else if character == "}", isInVariable {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    self.parts = parts
  }

  var variables: [String] { parts.enumerated().filter { $0.offset % 2 == 1 }.map(\.element) }
}
