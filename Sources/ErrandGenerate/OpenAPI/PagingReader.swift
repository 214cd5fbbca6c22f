/// Recognises operations whose response is one page of several. Only patterns with one meaning are recognised: a
/// parameter that chooses the page, one list of items, and a sign of the next page. The extension `x-pagination` of an
/// operation names them, or is `false`.
struct PagingReader {
  let files: DocumentFiles

  /// A value in a response with its name, see ``Paging/plain(_:)``.
  private struct Candidate {
    let name: String
    let place: Paging.Place
    var builtin: Builtin? { if case .builtin(let builtin)? = place.type?.wrapped { builtin } else { nil } }
    var isInLinks = false
  }

  /// The paging of an operation whose models are complete; nil if it has none.
  func paging(of operation: Operation) -> Paging? {
    let hint = operation.cursor["x-pagination"]
    guard case .json(let type) = operation.response, !type.isOptional, hint?.node.bool != false else { return nil }
    if let hint, hint.node.members != nil { return declared(hint, operation, type) }
    let positions = operation.parameters.filter { $0.place == .query && Paging.Kind($0.key) != nil }
    guard operation.method == "get", positions.count == 1, let position = positions.first,
      let kind = Paging.Kind(position.key), let argument = Self.argumentType(position),
      let (items, element) = items(in: type)
    else { return nil }
    let candidates = Self.candidates(in: type)
    let next: Paging.Next? =
      switch kind {
      case .cursor: cursor(position, argument, element, candidates)
      case .page: page(position, argument, candidates)
      case .offset: offset(position, argument, candidates)
      }
    let found = next ?? Self.link(candidates, kind).map { .link($0) } ?? (hasLinkField(operation) ? .link(nil) : nil)
    return found.map { Paging(parameter: position, items: items, element: element, next: $0) }
  }

  /// The type of a parameter that can choose a page: a text or a whole number.
  private static func argumentType(_ parameter: Operation.Parameter) -> Builtin? {
    guard case .builtin(let builtin) = parameter.property.type.wrapped else { return nil }
    return builtin == .string || builtin.isInteger ? builtin : nil
  }

  // MARK: - Parts of the response

  private static func properties(of type: TypeUse?) -> [Model.Property] {
    guard case .model(let model)? = type?.wrapped, case .object(let properties, _) = model.kind else { return [] }
    return properties
  }

  /// The only list in a response, or the only one with a usual name.
  private func items(in type: TypeUse) -> (Paging.Place, TypeUse)? {
    if case .array(let element) = type { return (Paging.Place(), element) }
    let lists = Self.properties(of: type).compactMap { property -> (Paging.Place, TypeUse)? in
      guard case .array(let element) = property.type.wrapped else { return nil }
      return (Paging.Place(steps: [property]), element)
    }
    if lists.count == 1 { return lists[0] }
    let usual: Set<String> = ["data", "items", "results", "records", "entries", "values", "elements", "rows"]
    let named = lists.filter { usual.contains(Paging.plain($0.0.steps[0].key)) }
    return named.count == 1 ? named[0] : nil
  }

  /// The values of a response, and of the objects in it that usually describe the page.
  private static func candidates(in type: TypeUse) -> [Candidate] {
    let holders: Set<String> = [
      "meta", "metadata", "pagination", "paging", "page", "pageinfo", "responsemetadata", "links", "cursors",
    ]
    var found: [Candidate] = []
    func add(_ properties: [Model.Property], _ steps: [Model.Property], isInLinks: Bool) {
      for property in properties {
        let name = Paging.plain(property.key)
        let place = Paging.Place(steps: steps + [property])
        found.append(Candidate(name: name, place: place, isInLinks: isInLinks))
        let inner = Self.properties(of: property.type)
        if name == "next", let address = inner.first(where: { $0.key == "href" || $0.key == "url" }) {
          let place = Paging.Place(steps: steps + [property, address])
          found.append(Candidate(name: "nexturl", place: place, isInLinks: true))
        } else if holders.contains(name), steps.count < 2 {
          add(inner, steps + [property], isInLinks: name == "links")
        }
      }
    }
    add(properties(of: type), [], isInLinks: false)
    return found
  }

  /// The only value with one of the names.
  private static func one(
    _ candidates: [Candidate], _ names: Set<String>, _ isRight: (Candidate) -> Bool
  ) -> Paging.Place? {
    let found = candidates.filter { names.contains($0.name) && isRight($0) }
    return found.count == 1 ? found[0].place : nil
  }

  private static func more(_ candidates: [Candidate]) -> Paging.Place? {
    one(candidates, ["hasmore", "hasnext", "hasnextpage", "hasmoreitems", "hasmoreresults", "moreavailable"]) {
      $0.builtin == .bool
    }
  }

  // MARK: - The next page

  private func cursor(
    _ position: Operation.Parameter, _ argument: Builtin, _ element: TypeUse, _ candidates: [Candidate]
  ) -> Paging.Next? {
    let more = Self.more(candidates)
    let names: Set<String> = [
      "nextcursor", "nextpagetoken", "nexttoken", "nextpagecursor", "nextcontinuationtoken", "continuationtoken",
    ]
    if let next = Self.value(candidates, names, argument) { return next }
    guard let more else { return nil }
    if let last = Self.value(candidates, ["endcursor", "lastid"], argument) { return last }
    let id = Self.properties(of: element).first { $0.key == "id" }
    guard Paging.plain(position.key) == "startingafter", !element.isOptional, let id,
      !id.type.isOptional || id.isOneWay, case .builtin(argument) = id.type.wrapped
    else { return nil }
    return .lastItem(id: id, more: more)
  }

  /// The argument for the next page, if the response contains it under one of the names.
  private static func value(_ candidates: [Candidate], _ names: Set<String>, _ argument: Builtin) -> Paging.Next? {
    let more = more(candidates)
    guard let next = one(candidates, names, { $0.builtin == argument }), ends(next, more) else { return nil }
    return .value(next, more: more)
  }

  /// Whether a value can say that there is no next page.
  private static func ends(_ place: Paging.Place, _ more: Paging.Place?) -> Bool {
    if more != nil || place.isOptional { return true }
    if case .builtin(.string)? = place.type { return true }
    return false
  }

  private func page(
    _ position: Operation.Parameter, _ argument: Builtin, _ candidates: [Candidate]
  ) -> Paging.Next? {
    guard argument.isInteger else { return nil }
    let more = Self.more(candidates)
    if let next = Self.value(candidates, ["nextpage", "nextpagenumber"], argument) { return next }
    let first = first(position)
    if let more, let first { return .page(first: first, more: more) }
    let counts: Set<String> = ["totalpages", "pagecount", "numpages", "lastpage", "pagetotal"]
    guard let count = Self.one(candidates, counts, { $0.builtin == argument }) else { return nil }
    let own = Self.one(candidates, ["page", "currentpage", "pagenumber"]) { candidate in
      candidate.builtin == argument && !candidate.place.isOptional
    }
    return first == nil && own == nil ? nil : .pages(first: first, own: first == nil ? own : nil, count: count)
  }

  private func offset(
    _ position: Operation.Parameter, _ argument: Builtin, _ candidates: [Candidate]
  ) -> Paging.Next? {
    guard argument.isInteger else { return nil }
    let more = Self.more(candidates)
    let first = first(position) ?? "0"
    if let next = Self.value(candidates, ["nextoffset", "nextskip"], argument) { return next }
    if let more { return .offsetMore(first: first, more: more) }
    let names: Set<String> = ["total", "totalcount", "totalitems", "totalresults"]
    return Self.one(candidates, names) { $0.builtin?.isInteger == true }.map { .offset(first: first, total: $0) }
  }

  /// The number of the first page: the server's default, or a minimum of 1. Nil if the document does not tell it, and
  /// empty if the parameter is required.
  private func first(_ position: Operation.Parameter) -> String? {
    guard position.property.isOptional else { return "" }
    let schema = position.schema.flatMap { files.resolved($0) }
    if let text = schema?.node["default"]?.scalarText { return Int32(text).map { "\($0)" } }
    return schema?.node["minimum"]?.scalarText == "1" ? "1" : nil
  }

  private static func link(_ candidates: [Candidate], _ kind: Paging.Kind) -> Paging.Place? {
    let sure: Set<String> = ["nexturl", "nextlink", "nextpageurl", "nextpagelink", "nexturi"]
    return one(candidates, sure.union(["next"])) { candidate in
      guard let builtin = candidate.builtin else { return false }
      let isText = builtin == .string && (sure.contains(candidate.name) || candidate.isInLinks || kind != .cursor)
      return builtin == .url || isText
    }
  }

  /// Whether a successful response declares the field `Link` (RFC 8288).
  private func hasLinkField(_ operation: Operation) -> Bool {
    let responses = operation.cursor["responses"]?.members.filter { $0.key.hasPrefix("2") } ?? []
    return responses.compactMap { files.resolved($0.value)?["headers"] }.contains { fields in
      fields.members.contains { $0.key.lowercased() == "link" }
    }
  }

  // MARK: - The extension

  private func declared(_ hint: Cursor, _ operation: Operation, _ type: TypeUse) -> Paging? {
    guard let position = operation.parameters.first(where: { $0.place == .query && $0.key == hint.text("parameter") }),
      let argument = Self.argumentType(position)
    else {
      return fail(hint, "needs “parameter”, the name of a text or a whole number in the query")
    }
    let items = Self.place(hint.text("items") ?? "", in: type)
    let list = items.flatMap { $0.steps.isEmpty ? type : $0.type }
    guard let items, case .array(let element)? = list?.wrapped else {
      return fail(hint, "needs “items”, the names of the properties that lead to a list, as in “data.items”")
    }
    guard let next = declaredNext(hint, position, argument, type) else { return nil }
    return Paging(parameter: position, items: items, element: element, next: next)
  }

  private func declaredNext(
    _ hint: Cursor, _ position: Operation.Parameter, _ argument: Builtin, _ type: TypeUse
  ) -> Paging.Next? {
    func place(_ key: String, _ isRight: (Builtin) -> Bool) -> Paging.Place? {
      guard let place = Self.place(hint.text(key) ?? "", in: type), case .builtin(let builtin)? = place.type?.wrapped,
        isRight(builtin)
      else { return nil }
      return place
    }
    if hint.text("link") == "Link" { return .link(nil) }
    if let link = place("link", { $0 == .string || $0 == .url }) { return .link(link) }
    let more = place("more") { $0 == .bool }
    if let next = place("next", { $0 == argument }), Self.ends(next, more) { return .value(next, more: more) }
    let first = first(position)
    if argument.isInteger {
      if let count = place("pages", \.isInteger) { return .pages(first: first ?? "1", own: nil, count: count) }
      if let total = place("total", \.isInteger) { return .offset(first: first ?? "0", total: total) }
      switch (Paging.Kind(position.key), more) {
      case (.page, let more?): return .page(first: first ?? "1", more: more)
      case (.offset, let more?): return .offsetMore(first: first ?? "0", more: more)
      default: break
      }
    }
    return fail(
      hint, "needs “next”, “link”, “pages”, “total” or “more”, the names of the properties that lead to such a value")
  }

  private func fail<Value>(_ hint: Cursor, _ reason: String) -> Value? {
    files.note(hint, "the request has no pages, because `x-pagination` \(reason)")
    return nil
  }

  /// The place that names with dots between describe, such as `meta.next_cursor`; nil if there is no such property.
  private static func place(_ path: String, in type: TypeUse) -> Paging.Place? {
    var place = Paging.Place()
    for key in path.split(separator: ".") {
      guard let step = properties(of: place.type ?? type).first(where: { $0.key == key }) else { return nil }
      place.steps.append(step)
    }
    return place
  }
}
