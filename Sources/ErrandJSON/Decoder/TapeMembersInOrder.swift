/// By looking from one to the next.
struct TapeMembersInOrder: TapeMembers {
  let source: TapeSource

  func place(of name: String, in object: Int) -> Int? { source.document.index(of: name, in: object) }

  func names(in object: Int) -> [String] {
    var names: [String] = []
    source.document.forEachMember(of: object) { key, _ in names.append(source.document.string(key)) }
    return names
  }
}
