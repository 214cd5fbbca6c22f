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
