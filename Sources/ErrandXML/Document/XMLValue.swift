/// An element of an XML document with all that stands in it; the document itself is its outermost element.
///
/// ```swift
/// let feed = try XMLValue(parsing: body)
/// for entry in feed.children("entry") { print(entry["title"]?.text ?? "", entry.attributes["id"] ?? "") }
/// ```
///
/// Comments and processing instructions are left out, CDATA sections are text. White space between elements is kept as
/// it came.
public struct XMLValue: Sendable, Hashable {
  /// A piece of what an element holds.
  public enum Content: Sendable, Hashable {
    /// A text, its entities resolved.
    case text(String)
    /// An element.
    case element(XMLValue)
  }

  /// The name without its prefix.
  public var name: String
  /// The namespace's URI; nil for none.
  public var namespace: String?
  /// The attributes under their names as they are written, prefix included; those that declare namespaces are left out.
  public var attributes: [String: String]
  /// What stands in the element, in order.
  public var content: [Content]

  /// Makes an element.
  public init(
    _ name: String, namespace: String? = nil, attributes: [String: String] = [:], content: [Content] = []
  ) {
    self.name = name
    self.namespace = namespace
    self.attributes = attributes
    self.content = content
  }

  /// The elements that stand directly in this one, in order.
  public var children: [XMLValue] {
    content.compactMap { if case .element(let child) = $0 { child } else { nil } }
  }

  /// Those of a name: without prefix, in any namespace, or in one namespace as `{http://www.w3.org/2005/Atom}entry`.
  public func children(_ name: String) -> [XMLValue] { children.filter { $0.isNamed(name) } }

  /// The first child of a name, written as for ``children(_:)``.
  public subscript(name: String) -> XMLValue? {
    for case .element(let child) in content where child.isNamed(name) { return child }
    return nil
  }

  /// The text that stands directly in this element, without that of its children.
  public var text: String {
    content.reduce(into: "") { text, piece in if case .text(let more) = piece { text += more } }
  }

  /// The name as messages show it: cut where it is long.
  var shownName: String { String(String.UnicodeScalarView(name.unicodeScalars.prefix(60))) }

  private func isNamed(_ wanted: String) -> Bool {
    guard wanted.first == "{" else { return name == wanted }
    return wanted == "{\(namespace ?? "")}\(name)"
  }
}
