import Foundation

/// How values of a type are written.
enum JSONKind: UInt8 {
  case string, bool, int, double, float
  case int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, int128, uint128
  case date, data, url, decimal, value
  /// An array.
  case array
  /// A dictionary whose keys are strings.
  case members
  /// Any other dictionary.
  case dictionary
  /// By its own `encode(to:)`.
  case other

  /// Whether one of its values is written without a level of its own and never calls other code.
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

  private static let known: [ObjectIdentifier: JSONKind] = Dictionary(
    uniqueKeysWithValues: [
      (String.self, .string), (Bool.self, .bool), (Int.self, .int), (Double.self, .double), (Float.self, .float),
      (Int8.self, .int8), (Int16.self, .int16), (Int32.self, .int32), (Int64.self, .int64), (UInt.self, .uint),
      (UInt8.self, .uint8), (UInt16.self, .uint16), (UInt32.self, .uint32), (UInt64.self, .uint64),
      (Int128.self, .int128), (UInt128.self, .uint128), (Date.self, .date), (Data.self, .data), (URL.self, .url),
      (Decimal.self, .decimal), (JSONValue.self, .value),
    ].map { (type: any Any.Type, kind: JSONKind) in (ObjectIdentifier(type), kind) })
}

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

/// Any dictionary.
protocol JSONDictionary {}

extension Dictionary: JSONDictionary {}
