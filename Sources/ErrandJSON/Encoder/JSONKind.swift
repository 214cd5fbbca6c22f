import Foundation

/// The way in which values of a type are written.
enum JSONKind: UInt8 {
  case string, bool, int, double, float
  case int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, int128, uint128
  case date, data, url, decimal, value
  /// An array of encodable elements.
  case array
  /// A dictionary whose keys are strings.
  case members
  /// A dictionary whose keys are not strings.
  case dictionary
  /// Any type that is written by its own `encode(to:)`.
  case other

  /// Whether values of this kind are written without opening an array or object, and without calling code of the
  /// value's type.
  var isScalar: Bool { rawValue <= JSONKind.uint128.rawValue }

  init(_ type: any Any.Type) {
    if let kind = Self.known[ObjectIdentifier(type)] {
      self = kind
    } else if type is any JSONDictionary.Type {
      self = type is any JSONGroup.Type ? .members : .dictionary
    } else {
      self = type is any JSONGroup.Type ? .array : .other
    }
  }

  /// The kinds of the types that are written and read by special code, instead of the types' own code.
  static let known: [ObjectIdentifier: JSONKind] = Dictionary(
    uniqueKeysWithValues: [
      (String.self, .string), (Bool.self, .bool), (Int.self, .int), (Double.self, .double), (Float.self, .float),
      (Int8.self, .int8), (Int16.self, .int16), (Int32.self, .int32), (Int64.self, .int64), (UInt.self, .uint),
      (UInt8.self, .uint8), (UInt16.self, .uint16), (UInt32.self, .uint32), (UInt64.self, .uint64),
      (Int128.self, .int128), (UInt128.self, .uint128), (Date.self, .date), (Data.self, .data), (URL.self, .url),
      (Decimal.self, .decimal), (JSONValue.self, .value),
    ].map { (type: any Any.Type, kind: JSONKind) in (ObjectIdentifier(type), kind) })
}

/// Marks the type `Dictionary`, with keys and values of any type.
protocol JSONDictionary {}

extension Dictionary: JSONDictionary {}

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
