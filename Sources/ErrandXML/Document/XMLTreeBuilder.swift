import ErrandCore
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Makes a value of what the parser tells, and stops it at the first error: the parser of Linux goes on after some.
final class XMLTreeBuilder: NSObject, XMLParserDelegate {
  private var open: [XMLValue] = []
  private var root: XMLValue?
  private var text = ""
  private var failure: FormatFailure?

  /// What came out.
  func document(finished: Bool) throws(FormatFailure) -> XMLValue {
    if let failure { throw failure }
    // The parser of Linux says that it finished where a document breaks off.
    guard finished, open.isEmpty, let root else {
      throw FormatFailure(.malformed, "there is no whole XML document")
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
    text += String(decoding: bytes, as: UTF8.self)  // the document was checked to be text
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    guard failure == nil else { return }
    let words = Self.words[(error as NSError).code] ?? "this is not well-formed XML"
    failure = FormatFailure(
      .malformed, words, line: max(1, parser.lineNumber), column: max(1, parser.columnNumber), underlying: error)
    parser.abortParsing()
  }

  /// Puts the text that came so far into the innermost element: it comes in many pieces where it has entities.
  private func flush() {
    guard !text.isEmpty, !open.isEmpty else { return }
    open[open.count - 1].content.append(.text(text))
    text = ""
  }

  /// The parser's codes that answers give rise to.
  private static let words: [Int: String] = [
    4: "there is no element", 5: "the document breaks off, or something stands behind its end",
    6: "a character reference stands for no character", 7: "a character reference stands for no character",
    8: "a character reference stands for no character",
    9: "a character stands there that XML does not allow", 23: "an entity has no semicolon behind it",
    26: "an entity is used that XML does not know; only &lt; &gt; &amp; &apos; &quot; and numbers are taken",
    27: "an entity is used that XML does not know; only &lt; &gt; &amp; &apos; &quot; and numbers are taken",
    38: "a < stands in the value of an attribute", 39: "the value of an attribute has no quotation marks",
    40: "the value of an attribute does not end", 41: "an attribute has no value",
    42: "an attribute stands there twice", 62: "]]> stands in a text; write it as ]]&gt;",
    65: "a space is missing between attributes", 68: "a name is due there", 73: "a tag does not end",
    76: "another element is closed than was opened", 77: "an element is not closed; the document breaks off",
    201: "a prefix stands for no namespace; it must be declared by xmlns", 203: "an attribute stands there twice",
  ]
}
