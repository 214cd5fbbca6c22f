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

  private static let known: [ObjectIdentifier: JSONKind] = Dictionary(
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
