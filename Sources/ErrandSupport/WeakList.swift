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

  /// Adds one that is not there yet, and forgets those that are gone.
  public mutating func insert(_ object: Object) {
    places.removeAll { $0.object == nil }
    if !places.contains(where: { $0.object === object }) { places.append(Place(object: object)) }
  }
}
