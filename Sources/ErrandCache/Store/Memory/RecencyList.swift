/// Small integers in the order in which they were last used, as a doubly linked list. Every operation takes constant
/// time.
struct RecencyList: Sendable {
  private static let none = -1
  private var links: [(newer: Int, older: Int)] = []
  private(set) var newest: Int?
  private(set) var oldest: Int?

  /// Inserts a number as the most recently used one. The number must not be in the list.
  mutating func insert(_ place: Int) {
    while links.count <= place { links.append((Self.none, Self.none)) }
    links[place] = (Self.none, newest ?? Self.none)
    if let newest { links[newest].newer = place } else { oldest = place }
    newest = place
  }

  /// Removes a number, which must be in the list.
  mutating func remove(_ place: Int) {
    let (newer, older) = links[place]
    if newer == Self.none { newest = older == Self.none ? nil : older } else { links[newer].older = older }
    if older == Self.none { oldest = newer == Self.none ? nil : newer } else { links[older].newer = newer }
    links[place] = (Self.none, Self.none)
  }

  /// Makes a number the most recently used one.
  mutating func use(_ place: Int) {
    guard newest != place else { return }
    remove(place)
    insert(place)
  }
}
