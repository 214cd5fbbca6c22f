/// A value with a required key, even if the value is optional.
struct JSONBox<Value: Decodable & Equatable>: Decodable, Equatable { let value: Value }
