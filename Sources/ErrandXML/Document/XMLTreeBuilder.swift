import ErrandCore
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

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
