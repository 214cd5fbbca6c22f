public import ErrandCore
public import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

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
