/// By a table: of a crowd, or where rules turn the keys.
final class TapeMembersInTable: TapeMembers, Sendable {
  let source: TapeSource
  private let table: JSONKeyTable

  init(_ source: TapeSource, object: Int) {
    let rules = source.rules
    let path = rules.needsPaths ? source.path(to: object) : []
    self.source = source
    table = JSONKeyTable(source.document, object: object) { rules.name(of: $0, in: path) }
  }

  func place(of name: String, in object: Int) -> Int? { table[name] }

  func names(in object: Int) -> [String] { table.names }
}
