/// The recorded exchanges of one operation.
final class DraftOperation {
  let template: String
  let method: String
  /// The schema of the objects that the response is about; nil if they have none with a name.
  var resource: String?

  private var variables: [(name: String, kind: RecordedPath.Variable)]
  private var exchanges: [RecordedExchange] = []
  /// What the JSON bodies of successful responses have in common; it has no samples if there are none.
  private let response = SampleShape()

  init(_ path: RecordedPath, _ method: String) {
    (template, variables, self.method) = (path.template, path.variables, method)
  }

  func add(_ exchange: RecordedExchange, _ path: RecordedPath) {
    exchanges.append(exchange)
    variables = zip(variables, path.variables).map { ($0.name, $0.kind == $1.kind ? $0.kind : .text) }
    if exchange.isGood, let content = exchange.response, content.isJSON, let value = content.json {
      response.add(value)
    }
  }

  static func counted(_ count: Int) -> String { "\(count) recorded \(count == 1 ? "exchange" : "exchanges")" }

  /// The shape of the objects that the response is about: itself, its elements, or those of the only list in a response
  /// to GET for a path such as `/users`.
  var subject: SampleShape? {
    if let element = response.element { return element.isRecord ? element : nil }
    guard response.isRecord else { return nil }
    let lists = response.members.compactMap(\.shape.element).filter(\.isRecord)
    return method == "GET" && template.hasSuffix("s") && lists.count == 1 ? lists[0] : response
  }

  /// The operation of the document. `failure` is the name of the schema of error bodies.
  func document(failure: String?) -> DocumentNode {
    let summary = "\(method) \(template): a draft from \(Self.counted(exchanges.count))."
    var entries: [(key: String, value: DocumentNode)] = [
      ("summary", .init(.string(summary))), ("parameters", .init(.array(parameters))),
    ]
    if let body { entries.append(("requestBody", body)) }
    entries.append(("responses", DocumentNode(members: responses + failures(failure))))
    return DocumentNode(members: entries)
  }

  // MARK: - Request

  private var parameters: [DocumentNode] {
    let path = variables.map { Self.parameter($0.name, "path", isRequired: true, $0.kind.schema) }
    let query = Self.arguments(exchanges.map(\.query)).map { Self.parameter($0, "query", isRequired: $2, $1) }
    // The order of header fields has no meaning.
    let own = exchanges.map { Set($0.fields.map { $0.name.lowercased() }.filter { RecordedField($0) == .own }) }
    let fields = own.reduce(into: Set<String>()) { $0.formUnion($1) }.sorted().map { name in
      Self.parameter(name, "header", isRequired: own.allSatisfy { $0.contains(name) }, ["type": "string"])
    }
    return path + query + fields
  }

  private static func parameter(
    _ name: String, _ place: String, isRequired: Bool, _ schema: DocumentNode
  ) -> DocumentNode {
    [
      "name": .init(.string(name)), "in": .init(.string(place)), "required": .init(.bool(isRequired)),
      "schema": schema,
    ]
  }

  /// The arguments of queries or forms, in the order of their first occurrence. An argument that occurs several times in
  /// one of them is a list. An argument whose name is a value is left out, because no value may be written.
  private static func arguments(
    _ samples: [RecordedExchange.Arguments]
  ) -> [(name: String, schema: DocumentNode, isRequired: Bool)] {
    let all = SampleShape()
    var lists: Set<String> = []
    var counts: [String: Int] = [:]
    for sample in samples {
      var seen: Set<String> = []
      for (name, value) in sample where isName(name, before: value) {
        all.member(name).addArgument(value)
        if seen.insert(name).inserted { counts[name, default: 0] += 1 } else { lists.insert(name) }
      }
    }
    return all.members.map { name, shape in
      let schema = shape.argumentSchema
      let isRequired = counts[name] == samples.count
      return (name, lists.contains(name) ? ["type": "array", "items": schema] : schema, isRequired)
    }
  }

  /// Whether a program chose the name of an argument. A text without a value may be a value as a whole, such as a token
  /// in a query, or JSON that was sent with the type of a form.
  private static func isName(_ name: String, before value: String) -> Bool {
    value.isEmpty ? RecordedKey(name) == .name : RecordedKey(name) != .value
  }

  private var body: DocumentNode? {
    let bodies = exchanges.compactMap(\.body)
    guard let first = bodies.first else { return nil }
    var media = first.essence
    // A body of any other format, such as a form of several parts, is made by the caller.
    var schema: DocumentNode = ["type": "string", "format": "binary"]
    if first.isJSON {
      if first.type.isEmpty || media.contains("*") { media = "application/json" }
      let shape = SampleShape()
      for value in bodies.compactMap(\.json) { shape.add(value) }
      schema = shape.schema()
    } else if media == "application/x-www-form-urlencoded" {
      let arguments = Self.arguments(bodies.map(\.form))
      schema = [
        "type": "object",
        "required": .init(.array(arguments.filter(\.isRequired).map { .init(.string($0.name)) })),
        "properties": DocumentNode(members: arguments.map { ($0.name, $0.schema) }),
      ]
    } else if media.hasPrefix("multipart/") {
      media = "application/octet-stream"
    }
    return [
      "required": .init(.bool(bodies.count == exchanges.count)),
      "content": DocumentNode(members: [(media, ["schema": schema])]),
    ]
  }

  // MARK: - Responses

  /// The successful responses: one with the content, and those that never had any.
  private var responses: [(key: String, value: DocumentNode)] {
    let good = exchanges.filter(\.isGood)
    let full = good.filter { $0.response != nil }
    let empty = Set(good.map(\.status)).subtracting(full.map(\.status))
    var entries = empty.map { (key: "\($0)", value: ["description": ""] as DocumentNode) }
    if let status = full.map(\.status).min(), let first = full.first?.response {
      var content: DocumentNode = [:]
      let isJSON = full.contains { $0.response?.isJSON == true }
      if isJSON { content = ["schema": responseSchema] }
      var response: [(key: String, value: DocumentNode)] = [
        ("description", ""),
        ("content", DocumentNode(members: [(isJSON ? "application/json" : first.essence, content)])),
      ]
      if good.contains(where: { $0.responseFields.contains("link") }) { response.append(("headers", ["Link": [:]])) }
      entries.append(("\(status)", DocumentNode(members: response)))
    }
    return entries.sorted { $0.key < $1.key }
  }

  private var responseSchema: DocumentNode {
    guard let resource, let subject else { return response.schema() }
    return response.schema { $0 === subject ? resource : nil }
  }

  /// The failed responses with JSON, by status.
  private func failures(_ name: String?) -> [(key: String, value: DocumentNode)] {
    var entries: [Int: DocumentNode] = [:]
    for exchange in exchanges where exchange.isFailure {
      if exchange.response?.isProblem == true {
        entries[exchange.status] = ["content": ["application/problem+json": [:]]]
      } else if let name, exchange.response?.json != nil {
        entries[exchange.status] = ["content": ["application/json": ["schema": SampleShape.reference(name)]]]
      }
    }
    return entries.sorted { $0.key < $1.key }.map { ("\($0.key)", $0.value) }
  }
}
