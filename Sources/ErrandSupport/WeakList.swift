/// A list of weak references to different objects, in the order of insertion. Only the targets of this package can use
/// this type, because no product exports it.
public struct WeakList<Object: AnyObject & Sendable>: Sendable {
  private struct Place: Sendable {
    weak let object: Object?
  }

  private var places: [Place] = []

  /// Creates an empty list.
  public init() {}

  /// The objects that still exist.
  public var objects: [Object] { places.compactMap(\.object) }

  /// Adds an object, unless it is already in the list. Removes the references to deallocated objects.
  /// - Returns: The objects that were in the list. A caller that holds a lock must keep these references until it has
  ///   released the lock. One of them may be the last reference to its object. Its release then deallocates the object,
  ///   which must not happen under a lock.
  public mutating func insert(_ object: Object) -> [Object] {
    let objects = objects
    places.removeAll { $0.object == nil }
    if !objects.contains(where: { $0 === object }) { places.append(Place(object: object)) }
    return objects
  }
}
