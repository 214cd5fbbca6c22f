/// The value of an element or an attribute.
struct XMLSingle: SingleValueDecodingContainer {
  let place: XMLPlace

  var codingPath: [any CodingKey] { place.codingPath }

  func decodeNil() -> Bool { place.isNil }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try place.decode(type) }
}
