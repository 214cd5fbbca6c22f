/// Objects that are held by others, each of them once, in the order they came. Not for users: no product hands it on.
public struct WeakList<Object: AnyObject & Sendable>: Sendable {
  private struct Place: Sendable {
    weak let object: Object?
  }

  private var places: [Place] = []

  /// Makes an empty list.
  public init() {}

  /// Those that are still there.
  public var objects: [Object] { places.compactMap(\.object) }

  /// Adds one that is not there yet, and forgets those that are gone. Returns those that were there: to look for them is
  /// to hold them, so the last of them to be let go may die of it. Behind a lock it must not.
  public mutating func insert(_ object: Object) -> [Object] {
    let objects = objects
    places.removeAll { $0.object == nil }
    if !objects.contains(where: { $0 === object }) { places.append(Place(object: object)) }
    return objects
  }
}
