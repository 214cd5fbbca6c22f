/// The order in which places were used: a doubly linked list of small numbers. Every step takes the same time.
struct RecencyList: Sendable {
  private static let none = -1
  private var links: [(newer: Int, older: Int)] = []
  private(set) var newest: Int?
  private(set) var oldest: Int?

  /// Puts a place that is not in the list at its newest end.
  mutating func insert(_ place: Int) {
    while links.count <= place { links.append((Self.none, Self.none)) }
    links[place] = (Self.none, newest ?? Self.none)
    if let newest { links[newest].newer = place } else { oldest = place }
    newest = place
  }

  /// Takes a place out.
  mutating func remove(_ place: Int) {
    let (newer, older) = links[place]
    if newer == Self.none { newest = older == Self.none ? nil : older } else { links[newer].older = older }
    if older == Self.none { oldest = newer == Self.none ? nil : newer } else { links[older].newer = newer }
    links[place] = (Self.none, Self.none)
  }

  /// Moves a place to the newest end.
  mutating func use(_ place: Int) {
    guard newest != place else { return }
    remove(place)
    insert(place)
  }
}
