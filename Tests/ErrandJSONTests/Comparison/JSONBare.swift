/// A value read through a single value container.
struct JSONBare<Value: Decodable & Equatable>: Decodable, Equatable {
  let value: Value
  init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Value.self) }
}
