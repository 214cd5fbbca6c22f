/// What is known of the last few types, so that asking costs one comparison.
final class JSONKinds {
  struct Entry {
    var type: ObjectIdentifier
    var kind: JSONKind
    /// The type itself, where it writes its elements on its own.
    var group: (any JSONGroup.Type)?
  }

  // Unchecked, as no foreign code runs while it changes.
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

/// An array, or a dictionary whose keys are strings.
protocol JSONGroup {
  /// Writes the elements of a group, given as a value of this very type, to the innermost level.
  static func write<T>(elementsOf value: T, to stream: JSONStream) throws
}
