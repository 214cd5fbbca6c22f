/// A value under a key that may not be missing, even where the value is optional.
struct JSONBox<Value: Decodable & Equatable>: Decodable, Equatable { let value: Value }
