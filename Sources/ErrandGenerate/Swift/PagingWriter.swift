/// Writes the methods of `PagedRequest`.
struct PagingWriter {
  /// The access level with a space after it; empty for internal.
  let access: String

  func write(_ paging: Paging, of operation: Operation, to text: inout SwiftText) {
    let element = paging.element.written { $0.name(in: operation.model) }
    let empty = paging.items.isOptional ? " ?? []" : ""
    text.blank()
    let items = "\(paging.items.text(in: "page"))\(empty)"
    text.line("\(access)func items(of page: Response) -> [\(element)] { \(items) }")
    text.blank()
    text.block("\(access)func next(after page: APIResponse<Response>) -> Self?") { text in
      let value = writeConditions(paging, &text)
      text.line("var request = self")
      text.line("request.\(SwiftName.escaped(paging.parameter.property.name)) = \(value)")
      text.line("return request")
    }
  }

  /// Writes the statements that return after the last page. Returns an expression for the next argument.
  private func writeConditions(_ paging: Paging, _ text: inout SwiftText) -> String {
    let name = "self.\(SwiftName.escaped(paging.parameter.property.name))"
    let own = { (first: String) in first.isEmpty ? name : "\(name) ?? \(first)" }
    switch paging.next {
    case .value(let place, let more): return writeValue(place, more, &text)
    case .lastItem(let id, let more):
      let name = SwiftName.escaped(id.name)
      let last = id.type.isOptional ? "last?.\(name)" : "last"
      text.line("guard \(Self.isTrue(more)), let last = items(of: page.value).\(last) else { return nil }")
      return id.type.isOptional ? "last" : "last.\(name)"
    case .page(let first, let more):
      text.line("guard \(Self.isTrue(more)) else { return nil }")
      return first.isEmpty ? "\(name) + 1" : "(\(own(first))) + 1"
    case .pages(let first, let place, let count):
      text.line("let number = \(place?.text(in: Self.root) ?? own(first ?? ""))")
      let limit = Self.limit("count", count)
      text.line("guard \(limit.binding)number < \(limit.value) else { return nil }")
      return "number + 1"
    case .offsetMore(let first, let more):
      text.line("let count = items(of: page.value).count")
      text.line("guard \(Self.isTrue(more)), count > 0 else { return nil }")
      return sum(paging, own(first))
    case .offset(let first, let total):
      text.line("let count = items(of: page.value).count")
      text.line("let next = \(sum(paging, own(first)))")
      let limit = Self.limit("total", total)
      text.line("guard \(limit.binding)count > 0, next < \(limit.value) else { return nil }")
      return "next"
    case .link(let place): return writeLink(paging, place, &text)
    }
  }

  private func writeValue(_ place: Paging.Place, _ more: Paging.Place?, _ text: inout SwiftText) -> String {
    var conditions = more.map { [Self.isTrue($0)] } ?? []
    let value = place.text(in: Self.root)
    let name = place.isOptional ? "next" : value
    if place.isOptional { conditions.append("let next = \(value)") }
    if case .builtin(.string)? = place.type?.wrapped { conditions.append("!\(name).isEmpty") }
    if !conditions.isEmpty { text.line("guard \(conditions.joined(separator: ", ")) else { return nil }") }
    return name
  }

  private func writeLink(_ paging: Paging, _ place: Paging.Place?, _ text: inout SwiftText) -> String {
    let target = place?.text(in: Self.root) ?? "page.raw.link(\"next\")"
    var conditions = place?.isOptional == false ? [] : ["let link = \(target)"]
    let link = conditions.isEmpty ? target : "link"
    let isText = if case .builtin(.url)? = place?.type?.wrapped { false } else { true }
    let written = isText ? link : "\"\\(\(link))\""
    conditions.append("let value = PageLink.argument(\(SwiftText.literal(paging.parameter.key)), in: \(written))")
    let type = paging.parameter.property.type.wrapped.text
    if type != "String" { conditions.append("let number = \(type)(value)") }
    let short = "guard \(conditions.joined(separator: ", ")) else { return nil }"
    if short.count <= 116 {
      text.line(short)
    } else {
      text.list("guard", conditions, "else { return nil }")
    }
    return type == "String" ? "value" : "number"
  }

  /// The sum of the last offset and the number of items.
  private func sum(_ paging: Paging, _ offset: String) -> String {
    let type = paging.parameter.property.type.wrapped.text
    let count = type == "Int" ? "count" : "\(type)(clamping: count)"
    return offset.contains("??") ? "(\(offset)) + \(count)" : "\(offset) + \(count)"
  }

  private static let root = "page.value"

  private static func isTrue(_ place: Paging.Place) -> String {
    place.text(in: root) + (place.isOptional ? " == true" : "")
  }

  /// An expression for a value, after a condition that gives the value a name if it may be missing.
  private static func limit(_ name: String, _ place: Paging.Place) -> (binding: String, value: String) {
    let text = place.text(in: root)
    return place.isOptional ? ("let \(name) = \(text), ", name) : ("", text)
  }
}

extension Model {
  /// The name as it is written in another model, with the names of the models that contain this one.
  fileprivate func name(in scope: Model) -> String {
    guard let parent, parent !== scope else { return name }
    return "\(parent.name(in: scope)).\(name)"
  }
}
