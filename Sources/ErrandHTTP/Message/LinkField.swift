extension ResponseHead {
  /// One link of a `Link` field (RFC 8288): a target and its relations to the response.
  public struct Link: Sendable, Hashable {
    /// The target as it was received; it may be relative to the URL of the response.
    public let target: String
    /// The relations of the target to the response, such as `next`, in lower case.
    public let relations: [String]
    /// True if the link is not about the response but about another resource (`anchor`, RFC 8288 section 3.2).
    public let isOfAnother: Bool
  }

  /// The links in the `Link` fields (RFC 8288), in their order. A field ends at the first link that cannot be parsed,
  /// because no rule tells where the next one begins (RFC 8288 appendix B.2).
  public var links: [Link] { LinkField(fields.values(of: "Link")).links }
}

/// The links in the `Link` fields of a response (RFC 8288).
package struct LinkField: Sendable, Hashable {
  /// The links in the order in which the response contains them.
  package let links: [ResponseHead.Link]

  /// Parses the values of `Link` fields. A value ends at the first link that cannot be parsed. The time of parsing is
  /// linear in the length of the values.
  package init(_ values: [String]) {
    var links: [ResponseHead.Link] = []
    for value in values {
      var scanner = LinkScanner(value)
      while let link = scanner.next() { links.append(link) }
    }
    self.links = links
  }

  /// The target of the first link that has the relation and is about the response itself; nil if no link matches.
  package func target(of relation: String) -> String? {
    links.first { !$0.isOfAnother && $0.relations.contains(relation.lowercased()) }?.target
  }
}

extension HTTPResponse {
  /// The target of the first link that has the relation and is about the response itself. The target is resolved
  /// against the URL of the response. Nil if no link matches, or if the target is not an http or https URL.
  ///
  /// ```swift
  /// func next(after page: APIResponse<[Post]>) -> GetPosts? {
  ///   page.raw.link("next").map { GetPosts(path: RequestPath(link: $0)) }
  /// }
  /// ```
  public func link(_ relation: String) -> String? {
    guard let target = LinkField(fields.values(of: "Link")).target(of: relation) else { return nil }
    return (try? url.resolving(target))?.string
  }
}

/// Parses the value of a `Link` field (RFC 8288 appendix B.3).
private struct LinkScanner {
  private var rest: Substring.UTF8View

  init(_ value: String) { rest = value[...].utf8 }

  /// Parses the next link; nil at the end of the text, or if the rest of the text cannot be parsed.
  mutating func next() -> ResponseHead.Link? {
    skip { ASCII.isBlank($0) || $0 == 0x2C }
    guard rest.popFirst() == 0x3C else { return nil }
    let target = take { $0 != 0x3E }
    guard rest.popFirst() == 0x3E else { return nil }
    var relations: [String]?
    var isOfAnother = false
    while let (name, value) = parameter() {
      // If a link has several `rel` parameters, only the first one is used (RFC 8288 section 3.3).
      if name == "rel", relations == nil {
        relations = value.lowercased().split { $0 == " " || $0 == "\t" }.map(String.init)
      }
      if name == "anchor" { isOfAnother = true }
    }
    return ResponseHead.Link(target: target, relations: relations ?? [], isOfAnother: isOfAnother)
  }

  private mutating func parameter() -> (name: String, value: String)? {
    skip { ASCII.isBlank($0) }
    guard rest.first == 0x3B else { return nil }
    rest.removeFirst()
    skip { ASCII.isBlank($0) }
    let name = take { !ASCII.isBlank($0) && $0 != 0x3D && $0 != 0x3B && $0 != 0x2C }.lowercased()
    skip { ASCII.isBlank($0) }
    guard rest.first == 0x3D else { return (name, "") }
    rest.removeFirst()
    skip { ASCII.isBlank($0) }
    // A value without quotes ends at a semicolon or a comma, so it may contain spaces, as in `rel=next last`.
    guard rest.first == 0x22 else { return (name, take { $0 != 0x3B && $0 != 0x2C }) }
    rest.removeFirst()
    return (name, ASCII.takeQuoted(from: &rest))
  }

  private mutating func skip(_ rule: (UInt8) -> Bool) { rest = rest.drop(while: rule) }

  private mutating func take(_ rule: (UInt8) -> Bool) -> String {
    let taken = rest.prefix(while: rule)
    rest = rest[taken.endIndex...]
    return String(decoding: taken, as: UTF8.self)
  }
}
