/// How large a document in XML may be inside.
package struct MarkupLimits {
  /// How deep elements may stand in each other.
  package var depth: Int
  /// How many elements and attributes there may be.
  package var nodes: Int
  /// How many attributes one element may have; libxml2 compares each with each.
  package static let attributes = 1_000
  /// How many bytes one text or value may have; libxml2 takes no more.
  package static let text = 10_000_000

  package init(depth: Int, nodes: Int) {
    self.depth = depth
    self.nodes = nodes
  }

  static func tooDeep(_ limit: Int) -> FormatFailure {
    FormatFailure(.limit, "it is nested deeper than \(limit) levels; let the server send it flatter")
  }

  static func tooMany(_ limit: Int) -> FormatFailure {
    FormatFailure(.limit, "it has more than \(limit) values; let the server send it in parts")
  }
}
