/// Writes the request of an operation.
struct RequestWriter {
  let access: String
  let family: String
  /// The name of the type of error bodies that the family declares; nil if each request declares its own.
  let familyError: String?

  func write(_ operation: Operation, to text: inout SwiftText) {
    text.doc(Self.doc(of: operation))
    let paged = operation.paging == nil ? "" : ", PagedRequest"
    text.block("\(access)struct \(operation.model.name): \(family)Request\(paged)") { text in
      writeProperties(operation, &text)
      text.blank()
      writePath(operation, &text)
      let method = operation.method == "trace" ? "HTTPMethod(\"TRACE\")" : ".\(operation.method)"
      if operation.method != "get" { text.line("\(access)var method: HTTPMethod { \(method) }") }
      if operation.isOpen { text.line("\(access)var credential: RequestCredential { .none }") }
      writeArguments(operation, &text)
      writeHeaders(operation, &text)
      writeBody(operation, &text)
      writeResponse(operation, &text)
      if let paging = operation.paging { PagingWriter(access: access).write(paging, of: operation, to: &text) }
      for nested in operation.model.nested {
        text.blank()
        ModelWriter(access: access).write(nested, to: &text)
      }
    }
  }

  private static func doc(of operation: Operation) -> [String] {
    let summary = operation.cursor.text("summary") ?? ""
    let detail = operation.cursor.text("description") ?? ""
    var doc = [summary, detail == summary ? "" : detail]
    if doc.allSatisfy(\.isEmpty) { doc = ["\(operation.method.uppercased()) \(operation.path)"] }
    if operation.cursor.isTrue("deprecated") { doc.append("Deprecated: the document advises against its use.") }
    return doc
  }

  private func writeProperties(_ operation: Operation, _ text: inout SwiftText) {
    let properties = operation.properties
    for property in properties {
      if !property.doc.isEmpty { text.blank() }
      text.doc(property.doc)
      text.line("\(access)var \(SwiftName.escaped(property.name)): \(property.typeText)")
    }
    guard !access.isEmpty else { return }
    text.initializer(
      access, properties.map { (SwiftName.escaped($0.name), "\($0.typeText)\($0.isOptional ? " = nil" : "")") })
  }

  // MARK: - Path

  private func writePath(_ operation: Operation, _ text: inout SwiftText) {
    var literal = SwiftText.literalContent(operation.server ?? "")
    for (index, part) in PathTemplate(operation.path).parts.enumerated() {
      guard index % 2 == 1 else {
        literal += SwiftText.literalContent(part)
        continue
      }
      let parameter = operation.parameters.first { $0.place == .path && $0.key == part }
      guard let parameter else { continue }
      literal += "\\(\(Self.variable(parameter)))"
    }
    text.line("\(access)var path: Path { \"\(literal)\" }")
  }

  /// A variable of the path as it is written in the literal, with its label.
  private static func variable(_ parameter: Operation.Parameter) -> String {
    let name = SwiftName.escaped(parameter.property.name)
    let type = parameter.property.type
    if parameter.isSegments { return "segments: \(isPlain(type) ? name : text(name, type))" }
    guard case .array(let element) = type else { return isPlain(type) ? name : text(name, type) }
    // The text of the whole list would be one variable, in which the commas are escaped.
    return "list: \(isPlain(element) ? name : "\(name).map { \(text("$0", element)) }")"
  }

  /// Whether the description of a value is its text in a path.
  private static func isPlain(_ type: TypeUse) -> Bool {
    if case .builtin(let builtin) = type { ![.date, .url].contains(builtin) } else { false }
  }

  static func text(_ value: String, _ type: TypeUse) -> String {
    switch type {
    case .builtin(.string): value
    case .builtin(.date): "\(value).formatted(.iso8601)"
    case .builtin(.uuid): "\(value).uuidString"
    case .builtin(.url): "\(value).absoluteString"
    case .builtin(.data): "\(value).base64EncodedString()"
    case .array(.builtin(.string)): "\(value).joined(separator: \",\")"
    case .array(let element): "\(value).map { \(text("$0", element)) }.joined(separator: \",\")"
    default:
      type.rawType == .string
        ? "\(value).rawValue" : type.rawType == nil ? "\"\\(\(value))\"" : "\"\\(\(value).rawValue)\""
    }
  }

  // MARK: - Arguments

  private func writeArguments(_ operation: Operation, _ text: inout SwiftText) {
    let parameters = operation.parameters.filter { $0.place == .query }
    let lists = parameters.filter { if case .array = $0.property.type { true } else { false } }
    let style = lists.first.flatMap { Self.style(of: $0.lists) }
    // The style applies to the query and to a form in the body, whose lists are repeated unless they have indexes.
    let isForm = if case .form = operation.body { true } else { false }
    let arrays = operation.hasIndexedForm ? ".indexed" : isForm ? nil : style
    if let arrays {
      text.line("\(access)var formats: Formats { Formats(argumentStyle: ArgumentStyle(arrays: \(arrays))) }")
    }
    guard !parameters.isEmpty else { return }
    var items: [String] = []
    var statements: [String] = []
    for parameter in parameters {
      let name = SwiftName.escaped(parameter.property.name)
      let key = SwiftText.literal(parameter.key)
      if parameter.isSpread {
        // The entries alone would not contain the reason why the value cannot be encoded.
        let merge = "arguments = Arguments(encoding: \(name)).merged(over: arguments)"
        statements.append(parameter.property.isOptional ? "if let \(name) { \(merge) }" : merge)
      } else if Self.isObject(parameter.property.type) {
        items.append(
          "\(key): "
            + (parameter.property.isOptional
              ? "\(name).map { Arguments(encoding: $0) }" : "Arguments(encoding: \(name))"))
      } else if case .array(let element) = parameter.property.type,
        Self.style(of: parameter.lists) != arrays || Self.isJoinedByOther(parameter.lists)
      {
        let other = Self.loop(parameter, element, name, key)
        if other.isItem { items.append(other.text) } else { statements.append(other.text) }
      } else {
        items.append("\(key): \(name)")
      }
    }
    if statements.isEmpty {
      let short = "\(access)var arguments: Arguments { [\(items.joined(separator: ", "))] }"
      if short.count <= 118 { return text.line(short) }
      return text.block("\(access)var arguments: Arguments") { $0.list("[", items, "]") }
    }
    text.block("\(access)var arguments: Arguments") { text in
      text.list("var arguments: Arguments = [", items.isEmpty ? [":"] : items, "]")
      for statement in statements { text.line(statement) }
      text.line("return arguments")
    }
  }

  private static func style(of lists: Operation.Parameter.Lists) -> String? {
    switch lists {
    case .repeated: nil
    case .brackets: ".brackets"
    case .joined(let separator): separator == "," ? ".commas" : nil
    }
  }

  private static func isObject(_ type: TypeUse) -> Bool {
    switch type {
    case .model: type.rawType == nil
    case .map: true
    default: false
    }
  }

  private static func isJoinedByOther(_ lists: Operation.Parameter.Lists) -> Bool {
    if case .joined(let separator) = lists { separator != "," } else { false }
  }

  /// A list that is written in another way than most lists of the request.
  private static func loop(
    _ parameter: Operation.Parameter, _ element: TypeUse, _ name: String, _ key: String
  ) -> (text: String, isItem: Bool) {
    let mark = parameter.property.isOptional ? "?" : ""
    switch parameter.lists {
    case .joined(let separator):
      let joined = "\(name)\(mark).map { \(text("$0", element)) }.joined(separator: \(SwiftText.literal(separator)))"
      return ("\(key): \(joined)", true)
    case .repeated, .brackets:
      let suffix = if case .brackets = parameter.lists { "[]" } else { "" }
      let values = parameter.property.isOptional ? "\(name) ?? []" : name
      return ("for value in \(values) { arguments.append(\(SwiftText.literal(parameter.key + suffix)), value) }", false)
    }
  }

  // MARK: - Header fields

  private func writeHeaders(_ operation: Operation, _ text: inout SwiftText) {
    let fields = operation.parameters.filter { $0.place == .header }
    let cookies = operation.parameters.filter { $0.place == .cookie }
    let type = Self.contentType(operation)
    guard !fields.isEmpty || !cookies.isEmpty || type != nil else { return }
    var fixed = fields.filter { !$0.property.isOptional }.map { field in
      "\(SwiftText.literal(field.key)): \(Self.text(SwiftName.escaped(field.property.name), field.property.type))"
    }
    if let type, !type.body.isOptional { fixed.insert("\"Content-Type\": \(type.literal)", at: 0) }
    let others = fields.filter(\.property.isOptional)
    let isFixed = others.isEmpty && cookies.isEmpty && type?.body.isOptional != true
    let short = "\(access)var headers: RequestHeaders { [\(fixed.joined(separator: ", "))] }"
    if isFixed, short.count <= 118 { return text.line(short) }
    text.block("\(access)var headers: RequestHeaders") { text in
      if isFixed { return text.list("[", fixed, "]") }
      text.list("var headers: RequestHeaders = [", fixed.isEmpty ? [":"] : fixed, "]")
      if let type, type.body.isOptional {
        text.line("if \(SwiftName.escaped(type.body.name)) != nil { headers.set(\"Content-Type\", \(type.literal)) }")
      }
      for field in others {
        let name = SwiftName.escaped(field.property.name)
        let value = Self.text(name, field.property.type)
        text.line("if let \(name) { headers.set(\(SwiftText.literal(field.key)), \(value)) }")
      }
      writeCookies(cookies, &text)
      text.line("return headers")
    }
  }

  /// The media type of a JSON body that is not sent as `application/json`. The field wins over the type of the body.
  private static func contentType(_ operation: Operation) -> (literal: String, body: Operation.Property)? {
    guard case .json(let property, let type?) = operation.body else { return nil }
    return (SwiftText.literal(type), property)
  }

  private func writeCookies(_ cookies: [Operation.Parameter], _ text: inout SwiftText) {
    guard !cookies.isEmpty else { return }
    let items = cookies.map { cookie in
      let name = SwiftName.escaped(cookie.property.name)
      let key = SwiftText.literal("\(cookie.key)=")
      return cookie.property.isOptional
        ? "\(name).map { \(key) + \(Self.cookie("$0", cookie.property.type)) }"
        : "\(key) + \(Self.cookie(name, cookie.property.type))"
    }
    text.list("let cookies: [String?] = [", items, "]")
    text.line("let sent = cookies.compactMap { $0 }.joined(separator: \"; \")")
    text.line("if !sent.isEmpty { headers.set(\"Cookie\", .secret(sent)) }")
  }

  /// An expression for a value in a cookie. A text could contain the semicolon that ends the cookie.
  private static func cookie(_ value: String, _ type: TypeUse) -> String {
    switch type {
    case .array(let element): "\(value).map { \(cookie("$0", element)) }.joined(separator: \",\")"
    case .builtin(.string), .builtin(.url): "CookieText.escaped(\(text(value, type)))"
    default: type.rawType == .string ? "CookieText.escaped(\(text(value, type)))" : text(value, type)
    }
  }

  // MARK: - Body

  private func writeBody(_ operation: Operation, _ text: inout SwiftText) {
    switch operation.body {
    case nil: break
    case .json(let property, _): writeBody(property, &text) { ".json(\($0))" }
    case .form(let property): writeBody(property, &text) { ".form(Arguments(encoding: \($0)))" }
    case .text(let property, let media):
      writeBody(property, &text) {
        media == "text/plain" ? ".text(\($0))" : ".text(\($0), type: \(SwiftText.literal(media)))"
      }
    case .bytes(let property):
      text.line("\(access)var body: RequestBody? { \(SwiftName.escaped(property.name)) }")
    case .multipart(let parts): writeMultipart(parts, &text)
    }
  }

  private func writeBody(_ property: Operation.Property, _ text: inout SwiftText, _ make: (String) -> String) {
    let name = SwiftName.escaped(property.name)
    let value = property.isOptional ? "\(name).map { RequestBody\(make("$0")) }" : make(name)
    text.line("\(access)var body: RequestBody? { \(value) }")
  }

  private func writeMultipart(_ parts: [Operation.Part], _ text: inout SwiftText) {
    text.block("\(access)var body: RequestBody?") { text in
      text.line("var form = Multipart()")
      for part in parts {
        let name = SwiftName.escaped(part.property.name)
        let key = SwiftText.literal(part.key)
        let value = part.isList ? "value" : name
        let piece =
          switch part.kind {
          case .file(let type):
            ".file(\(key), \(value)\(type.map { ", type: \(SwiftText.literal($0))" } ?? ""))"
          case .json: ".json(\(key), \(value))"
          case .text: ".text(\(key), \(Self.text(value, Self.element(of: part))))"
          }
        let append = "form.parts.append(\(piece))"
        if part.isList {
          text.line("for value in \(name)\(part.property.isOptional ? " ?? []" : "") { \(append) }")
        } else {
          text.line(part.property.isOptional ? "if let \(name) { \(append) }" : append)
        }
      }
      text.line("return .multipart(form)")
    }
  }

  private static func element(of part: Operation.Part) -> TypeUse {
    if case .array(let element) = part.property.type { element.wrapped } else { part.property.type }
  }

  // MARK: - Response

  private func writeResponse(_ operation: Operation, _ text: inout SwiftText) {
    if case .json(let type) = operation.response, ["String", "Data"].contains(type.wrapped.text) {
      text.line("\(access)var decoder: ResponseDecoder<\(type.text)> { .json() }")
    }
    let response = Self.name(of: operation.response)
    if response != "Response" { text.line("\(access)typealias Response = \(response)") }
    guard familyError == nil, let error = operation.errorBody else { return }
    text.line("\(access)typealias ErrorBody = \(Self.errorName(of: error))")
  }

  static func name(of body: Operation.ResultBody) -> String {
    switch body {
    case .nothing: "Nothing"
    case .text: "String"
    case .data: "Data"
    case .problem: "ProblemDetails"
    case .json(let type): type.text
    }
  }

  static func errorName(of body: Operation.ResultBody) -> String {
    if case .json(let type) = body { type.wrapped.text } else { name(of: body) }
  }
}
