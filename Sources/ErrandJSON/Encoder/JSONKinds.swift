/// A cache of the kinds of recent types, so that a lookup costs one comparison.
final class JSONKinds {
  struct Entry {
    var type: ObjectIdentifier
    var kind: JSONKind
    /// The type itself if it is a ``JSONGroup``; otherwise nil.
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

/// An array, or a dictionary whose keys are strings. It writes its elements without `Codable`.
protocol JSONGroup {
  /// Writes the elements of an array or dictionary to the innermost level. `T` must be the conforming type itself.
  static func write<T>(elementsOf value: T, to stream: JSONStream) throws
}
