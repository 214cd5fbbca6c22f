public import ErrandCore
public import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

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

extension XMLValue {
  /// Reads a document.
  ///
  /// Its encoding is what the byte order mark says, then `charset`, then the document's declaration, then UTF-8.
  /// Nothing outside the document is ever read: a document type with declarations of its own is refused, one that names
  /// a file or an address is skipped.
  /// - Parameters:
  ///   - body: The document.
  ///   - charset: The charset that `Content-Type` names.
  ///   - limits: How large it may be.
  /// - Throws: ``ErrandCore/FormatFailure`` with line and column.
  public init(
    parsing body: Data, charset: String? = nil, limits: XMLLimits = XMLLimits()
  ) throws(FormatFailure) {
    let bytes = min(limits.bytes, XMLLimits.largest)
    guard body.count <= bytes else {
      throw FormatFailure(.limit, "the document has \(body.count) bytes; \(bytes) are taken (`XMLLimits.bytes`)")
    }
    let text = try MarkupText(body, charset: charset)
    let safe = try text.checked(MarkupLimits(depth: min(limits.depth, XMLLimits.deepest), nodes: limits.nodes))
    let builder = XMLTreeBuilder()
    let parser = XMLParser(data: safe)
    parser.shouldProcessNamespaces = true
    parser.shouldResolveExternalEntities = false
    parser.delegate = builder
    let finished = parser.parse()
    self = try builder.document(finished: finished)
  }
}

/// How large an XML document may be; one that passes a limit is refused before anything is built of it.
///
/// Beside them stand limits of the parser: 1,000 attributes to an element, and 10,000,000 bytes to a text or value.
public struct XMLLimits: Sendable, Hashable {
  /// How deep elements may stand in each other; 100, and never more than 500.
  public var depth: Int
  /// How many elements and attributes there may be; 1,000,000.
  public var nodes: Int
  /// How many bytes the body may have; 64 MiB.
  public var bytes: Int

  /// Limits; the standard ones where nothing is said.
  public init(depth: Int = 100, nodes: Int = 1_000_000, bytes: Int = 64 << 20) {
    self.depth = min(depth, Self.deepest)
    self.nodes = nodes
    self.bytes = min(bytes, Self.largest)
  }

  /// Values are freed by recursion, so a deeper one could end a thread.
  static let deepest = 500
  /// libxml2 counts bytes in 32 bits.
  static let largest = 1 << 30
}

extension XMLValue {
  /// The document as text in UTF-8, with a declaration.
  ///
  /// A namespace is declared where it differs from that of the element around it, without a prefix. Attributes stand in
  /// the order of their names; one with a prefix needs the attribute that declares it, such as `xmlns:p`.
  /// - Throws: ``ErrandCore/FormatFailure`` where a name is none, or a text has a character that XML cannot carry.
  public func serialized() throws(FormatFailure) -> Data {
    var out = Array(#"<?xml version="1.0" encoding="UTF-8"?>"#.utf8)
    try write(to: &out, inside: nil, path: name)
    return Data(out)
  }

  private func write(
    to out: inout [UInt8], inside outer: String?, path: String
  ) throws(FormatFailure) {
    try Self.check(name: name, path)
    out += "<\(name)".utf8
    if namespace != outer, attributes["xmlns"] == nil {
      try Self.write(attribute: "xmlns", namespace ?? "", to: &out, path)
    }
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      try Self.write(attribute: name, value, to: &out, path)
    }
    if content.isEmpty { return out += "/>".utf8 }
    out.append(UInt8(ascii: ">"))
    for piece in content {
      switch piece {
      case .text(let text): try Self.write(text, to: &out, isValue: false, path)
      case .element(let child): try child.write(to: &out, inside: namespace, path: "\(path).\(child.name)")
      }
    }
    out += "</\(name)>".utf8
  }

  private static func write(
    attribute name: String, _ value: String, to out: inout [UInt8], _ path: String
  ) throws(FormatFailure) {
    try check(name: name, path)
    out += " \(name)=\"".utf8
    try write(value, to: &out, isValue: true, path)
    out.append(UInt8(ascii: "\""))
  }

  /// What would end a text or a value, or be changed by whoever reads it, goes as a reference.
  private static func write(
    _ text: String, to out: inout [UInt8], isValue: Bool, _ path: String
  ) throws(FormatFailure) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": out += "&lt;".utf8
      case ">": out += "&gt;".utf8
      case "&": out += "&amp;".utf8
      case "\"": out += "&quot;".utf8
      case "\t", "\n": out += isValue ? Array("&#\(scalar.value);".utf8) : Array(scalar.utf8)
      case "\r": out += "&#13;".utf8
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}":
        throw FormatFailure(
          .malformed, "the character U+\(String(scalar.value, radix: 16, uppercase: true)) cannot stand in XML",
          path: path)
      default: out += Array(scalar.utf8)
      }
    }
  }

  /// Refuses what could end a tag; the letters of names are not told apart further.
  private static func check(name: String, _ path: String) throws(FormatFailure) {
    let first = name.unicodeScalars.first
    let isName = name.unicodeScalars.allSatisfy {
      $0.value >= 0x80 || "-._:".unicodeScalars.contains($0) || ASCII.isAlphanumeric(UInt8($0.value))
    }
    guard let first, isName, !"-.0123456789".unicodeScalars.contains(first) else {
      throw FormatFailure(.malformed, "\"\(name)\" is no name of an element or attribute", path: path)
    }
  }
}

extension RequestBody {
  /// A document as XML; what cannot be written fails the call while it is built.
  public static func xml(_ document: XMLValue, type contentType: String = "application/xml") -> RequestBody {
    encoded(as: "XML", contentType) { try document.serialized() }
  }
}
