/// A cache of the kinds of recently written types. If the type is in the cache, a lookup costs one comparison.
final class JSONKinds {
  struct Entry {
    var type: ObjectIdentifier
    var kind: JSONKind
    /// The type as a ``JSONGroup``; nil if the type does not conform to ``JSONGroup``.
    var group: (any JSONGroup.Type)?
  }

  // The exclusivity check is off, because no code outside this class runs while an entry changes.
  @exclusivity(unchecked) private var entries = [Entry](
    repeating: Entry(type: ObjectIdentifier(JSONKinds.self), kind: .other, group: nil), count: 16)

  @inline(__always) func entry(of type: any Any.Type) -> Entry {
    let id = ObjectIdentifier(type)
    let place = (UInt(bitPattern: id) >> 4 ^ UInt(bitPattern: id) >> 9) & 15
    let entry = entries[Int(place)]
    return entry.type == id ? entry : look(for: type, at: Int(place))
  }

  @inline(never) private func look(for type: any Any.Type, at place: Int) -> Entry {
    let entry = Entry(type: ObjectIdentifier(type), kind: JSONKind(type), group: type as? any JSONGroup.Type)
    entries[place] = entry
    return entry
  }
}

/// An array, or a dictionary whose keys are strings. The type writes its elements without `Codable`.
protocol JSONGroup {
  /// Writes the elements of an array or dictionary to the array or object that the stream has opened last. `T` must be
  /// the conforming type itself.
  static func write<T>(elementsOf value: T, to stream: JSONStream) throws
}
