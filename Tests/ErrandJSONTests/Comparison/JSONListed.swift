/// A value read through an unkeyed container.
struct JSONListed<Value: Decodable & Equatable>: Decodable, Equatable {
  let value: Value
  init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    value = try list.decode(Value.self)
  }
}
