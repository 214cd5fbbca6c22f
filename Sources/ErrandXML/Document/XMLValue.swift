public import ErrandCore
public import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// An element of an XML document with its content. A document is represented by its root element.
///
/// ```swift
/// let feed = try XMLValue(parsing: body)
/// for entry in feed.children("entry") { print(entry["title"]?.text ?? "", entry.attributes["id"] ?? "") }
/// ```
///
/// Comments and processing instructions are omitted, and CDATA sections are text. White space between elements is kept
/// unchanged.
public struct XMLValue: Sendable, Hashable {
  /// One part of the content of an element.
  public enum Content: Sendable, Hashable {
    /// A text inside the element, with its entities resolved.
    case text(String)
    /// A child element.
    case element(XMLValue)
  }

  /// The name of the element without its prefix.
  public var name: String
  /// The URI of the element's namespace; nil if the element has none.
  public var namespace: String?
  /// The attributes by their names. A name is written as in the document, including its prefix. Attributes that declare
  /// namespaces are omitted.
  public var attributes: [String: String]
  /// The texts and child elements of the element, in order.
  public var content: [Content]

  /// Creates an element with a name, attributes and content.
  public init(
    _ name: String, namespace: String? = nil, attributes: [String: String] = [:], content: [Content] = []
  ) {
    self.name = name
    self.namespace = namespace
    self.attributes = attributes
    self.content = content
  }

  /// The direct child elements, in order.
  public var children: [XMLValue] {
    content.compactMap { if case .element(let child) = $0 { child } else { nil } }
  }

  /// The children with a name. A name without braces matches in every namespace, and
  /// `{http://www.w3.org/2005/Atom}entry` matches in one namespace. Prefixes are not part of names.
  public func children(_ name: String) -> [XMLValue] { children.filter { $0.isNamed(name) } }

  /// The first child with a name. The name has one of the forms that ``children(_:)`` describes.
  public subscript(name: String) -> XMLValue? {
    for case .element(let child) in content where child.isNamed(name) { return child }
    return nil
  }

  /// The direct text of this element, without the text of its children.
  public var text: String {
    content.reduce(into: "") { text, piece in if case .text(let more) = piece { text += more } }
  }

  /// The element's name for messages, truncated to 60 Unicode scalars.
  var shownName: String { String(String.UnicodeScalarView(name.unicodeScalars.prefix(60))) }

  private func isNamed(_ wanted: String) -> Bool {
    guard wanted.first == "{" else { return name == wanted }
    return wanted == "{\(namespace ?? "")}\(name)"
  }
}

extension XMLValue {
  /// Parses a document.
  ///
  /// The encoding is determined by the first of these that is present: the byte order mark, `charset`, the XML
  /// declaration. The default is UTF-8.
  ///
  /// The parser never reads anything outside the document. A document type with internal declarations is an error. A
  /// document type that refers to a file or a URL is skipped.
  /// - Parameters:
  ///   - body: The document.
  ///   - charset: The charset in the response's `Content-Type`.
  ///   - limits: The maximum size of the document.
  /// - Throws: ``ErrandCore/FormatFailure`` with line and column.
  public init(
    parsing body: Data, charset: String? = nil, limits: XMLLimits = XMLLimits()
  ) throws(FormatFailure) {
    let bytes = min(limits.bytes, XMLLimits.largest)
    guard body.count <= bytes else {
      throw FormatFailure(
        .limit, "the document has \(body.count) bytes; the limit is \(bytes) bytes (`XMLLimits.bytes`)")
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

/// The maximum size of an XML document. A document that exceeds a limit is rejected before it is parsed.
///
/// In addition, the parser has fixed limits: 1,000 attributes per element, and 10,000,000 bytes per text or attribute
/// value.
public struct XMLLimits: Sendable, Hashable {
  /// The maximum nesting of elements. The default is 100; the largest possible value is 500.
  public var depth: Int
  /// The maximum number of elements and attributes together. The default is 1,000,000.
  public var nodes: Int
  /// The maximum size of the body in bytes. The default is 64 MiB.
  public var bytes: Int

  /// Creates limits. Omitted limits have their default values.
  public init(depth: Int = 100, nodes: Int = 1_000_000, bytes: Int = 64 << 20) {
    self.depth = min(depth, Self.deepest)
    self.nodes = nodes
    self.bytes = min(bytes, Self.largest)
  }

  /// The largest possible value of ``depth``. An element and its children are deallocated recursively, so a deeper
  /// element could overflow the stack of a thread.
  static let deepest = 500
  /// The largest possible value of ``bytes``, because libxml2 counts bytes with 32-bit integers.
  static let largest = 1 << 30
}

extension XMLValue {
  /// The document as text in UTF-8, with an XML declaration.
  ///
  /// If the namespace of an element differs from that of its parent, the element declares its namespace without a
  /// prefix. Attributes are sorted by name. An attribute with a prefix needs another attribute that declares the
  /// prefix, such as `xmlns:p`.
  /// - Throws: ``ErrandCore/FormatFailure`` if a name is invalid, or a text has a character that XML does not allow.
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

  /// Writes a text or an attribute value. Two kinds of characters are written as references: characters that would end
  /// the text or value, and white space that parsers would change.
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
          .malformed, "XML does not allow the character U+\(String(scalar.value, radix: 16, uppercase: true))",
          path: path)
      default: out += Array(scalar.utf8)
      }
    }
  }

  /// Throws if a name contains characters that could end a tag. All characters beyond ASCII are accepted, so this check
  /// is less strict than XML.
  private static func check(name: String, _ path: String) throws(FormatFailure) {
    let first = name.unicodeScalars.first
    let isName = name.unicodeScalars.allSatisfy {
      $0.value >= 0x80 || "-._:".unicodeScalars.contains($0) || ASCII.isAlphanumeric(UInt8($0.value))
    }
    guard let first, isName, !"-.0123456789".unicodeScalars.contains(first) else {
      throw FormatFailure(.malformed, "\"\(name)\" is not a valid name of an element or attribute", path: path)
    }
  }
}

extension RequestBody {
  /// A request body with an XML document in UTF-8. The call fails while its request is built if the document cannot be
  /// written, or if `Content-Type` names another charset for a document that is not ASCII.
  public static func xml(_ document: XMLValue, type contentType: String = "application/xml") -> RequestBody {
    encoded(as: "XML", contentType, isText: true) { try document.serialized() }
  }
}

/// Builds an ``XMLValue`` from the events of an XML parser. The builder stops the parser at the first error, because
/// the parser on Linux continues after some errors.
final class XMLTreeBuilder: NSObject, XMLParserDelegate {
  private var open: [XMLValue] = []
  private var root: XMLValue?
  private var text = ""
  private var failure: FormatFailure?

  /// Returns the root element of the document after parsing. `finished` is the result of the parser. Throws if the
  /// document is not complete.
  func document(finished: Bool) throws(FormatFailure) -> XMLValue {
    if let failure { throw failure }
    // The parser on Linux reports success even for an incomplete document.
    guard finished, open.isEmpty, let root else {
      throw FormatFailure(.malformed, "the XML document is incomplete")
    }
    return root
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    flush()
    let namespace = namespaceURI.flatMap { $0.isEmpty ? nil : $0 }
    open.append(XMLValue(name, namespace: namespace, attributes: attributes))
  }

  func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
    flush()
    guard let value = open.popLast() else { return }
    if open.isEmpty { root = value } else { open[open.count - 1].content.append(.element(value)) }
  }

  func parser(_ parser: XMLParser, foundCharacters more: String) { text += more }

  func parser(_ parser: XMLParser, foundCDATA bytes: Data) {
    text += String(decoding: bytes, as: UTF8.self)  // `MarkupText` has checked that the document is valid text
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    guard failure == nil else { return }
    let words = Self.words[(error as NSError).code] ?? "the document is not well-formed XML"
    failure = FormatFailure(
      .malformed, words, line: max(1, parser.lineNumber), column: max(1, parser.columnNumber), underlying: error)
    parser.abortParsing()
  }

  /// Appends the collected text to the innermost open element. The parser delivers a text that contains entities in
  /// several pieces, so the pieces are collected first.
  private func flush() {
    guard !text.isEmpty, !open.isEmpty else { return }
    open[open.count - 1].content.append(.text(text))
    text = ""
  }

  /// The messages for the error codes of libxml2 that a response can cause, by error code.
  private static let words: [Int: String] = [
    4: "the document has no root element", 5: "the document is incomplete, or has content after its root element",
    6: "a character reference is invalid", 7: "a character reference is invalid",
    8: "a character reference is invalid",
    9: "the document has a character that XML does not allow", 23: "an entity reference has no semicolon at its end",
    26: "an entity is unknown; XML defines only &lt; &gt; &amp; &apos; &quot; and numeric references",
    27: "an entity is unknown; XML defines only &lt; &gt; &amp; &apos; &quot; and numeric references",
    38: "an attribute value contains <; write it as &lt;", 39: "an attribute value has no quotation marks",
    40: "an attribute value has no closing quotation mark", 41: "an attribute has no value",
    42: "an element has the same attribute twice", 62: "a text contains ]]>; write it as ]]&gt;",
    65: "a space is missing between attributes", 68: "the name of an element, attribute or entity is missing",
    73: "a tag has no closing >",
    76: "a closing tag does not match its opening tag", 77: "an element is not closed; the document is incomplete",
    201: "a namespace prefix is not declared; declare it with xmlns", 203: "an element has the same attribute twice",
  ]
}
