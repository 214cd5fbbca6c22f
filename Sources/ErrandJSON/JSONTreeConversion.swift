import Foundation

/// Turns the tree that Foundation's parser makes into a JSON value.
///
/// Containers that are not finished wait in a list instead of on the stack, so that deep nesting, which a server may
/// send, cannot overflow the 512 KiB that worker threads have on Apple platforms.
struct JSONTreeConversion {
  /// An array, or an object with its keys in a list of their own, whose elements are being converted.
  private struct Container {
    let keys: [String]?
    var rest: IndexingIterator<[Any]>
    var done: [JSONValue] = []

    init(keys: [String]? = nil, elements: [Any]) {
      self.keys = keys
      rest = elements.makeIterator()
      done.reserveCapacity(elements.count)
    }

    var value: JSONValue {
      guard let keys else { return .array(done) }
      return .object(Dictionary(zip(keys, done)) { _, last in last })
    }
  }

  private var open: [Container] = []

  /// The value of a whole tree.
  static func value(of tree: Any) -> JSONValue {
    var conversion = JSONTreeConversion()
    var finished = conversion.begin(tree)
    while let last = conversion.open.indices.last {
      if let value = finished { conversion.open[last].done.append(value) }
      if let next = conversion.open[last].rest.next() {
        finished = conversion.begin(next)
      } else {
        finished = conversion.open.removeLast().value
      }
    }
    return finished ?? .null
  }

  /// The value of a scalar; nil for a container, which is then open.
  private mutating func begin(_ tree: Any) -> JSONValue? {
    // The order matters for speed, as each cast that fails costs 0.1 µs; and asked whether it is a number, a container is
    // bridged with all that it holds on Linux.
    if type(of: tree) is AnyClass, let number = tree as? NSNumber { return Self.value(of: number) }
    switch tree {
    case let string as String:
      return .string(string)
    case let elements as [Any]:
      open.append(Container(elements: elements))
      return nil
    case let members as [String: Any]:
      open.append(Container(keys: members.map(\.key), elements: members.map(\.value)))
      return nil
    default:
      return .null
    }
  }

  /// Foundation boxes truth values as one-byte numbers, and it makes a number of one byte of nothing else in JSON.
  private static func value(of number: NSNumber) -> JSONValue {
    if let decimal = number as? NSDecimalNumber { return value(ofDigits: decimal.stringValue) }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): return .bool(number.boolValue)
    case UInt8(ascii: "d"), UInt8(ascii: "f"): return .number(number.doubleValue)
    case UInt8(ascii: "Q"): return JSONValue(number.uint64Value)
    default: return JSONValue(number.int64Value)
    }
  }

  /// Reads the digits again: a decimal's own way to `Double` is off by one unit in the last place at times.
  private static func value(ofDigits digits: String) -> JSONValue {
    if let small = Int64(digits) { return .integer(small) }
    if let large = UInt64(digits) { return .unsigned(large) }
    return .number(Double(digits) ?? .nan)
  }
}
