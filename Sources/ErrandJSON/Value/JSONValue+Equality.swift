extension JSONValue: Hashable {
  /// Equal types and values; numbers are compared by what they are worth, however they are held.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left.content.simplest, right.content.simplest) {
    case (.null, .null): true
    case (.bool(let one), .bool(let two)): one == two
    case (.integer(let one), .integer(let two)): one == two
    case (.unsigned(let one), .unsigned(let two)): one == two
    case (.number(let one), .number(let two)): one == two
    case (.string(let one), .string(let two)): one == two
    case (.array(let one), .array(let two)): one == two
    case (.object(let one), .object(let two)): one == two
    default: false
    }
  }

  /// Feeds the value in, equal numbers alike.
  public func hash(into hasher: inout Hasher) {
    switch content.simplest {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }
}

extension JSONValue.Content {
  /// The same with a number in the first case that holds it exactly: integer, unsigned, number.
  fileprivate var simplest: JSONValue.Content {
    switch self {
    case .unsigned(let value):
      return Int64(exactly: value).map { .integer($0) } ?? self
    case .number(let value):
      if let whole = Int64(exactly: value) { return .integer(whole) }
      return UInt64(exactly: value).map { .unsigned($0) } ?? self
    default:
      return self
    }
  }
}
