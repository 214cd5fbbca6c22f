/// The unkeyed decoding container of an array. The elements of the array are sibling elements in the document.
struct XMLUnkeyed: UnkeyedDecodingContainer {
  private let decoder: XMLValueDecoder
  private let elements: [XMLValue]
  private(set) var currentIndex = 0

  init(decoder: XMLValueDecoder, elements: [XMLValue]) {
    self.decoder = decoder
    self.elements = elements
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  mutating func decodeNil() throws -> Bool {
    guard try here().isNil else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try step { try $0.decode(type) } }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try step { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try step { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try step { $0 } }

  /// Decodes the current element of the array with `read`. Advances to the next element if `read` throws no error.
  private mutating func step<T>(_ read: (XMLValueDecoder) throws -> T) throws -> T {
    let value = try read(here())
    currentIndex += 1
    return value
  }

  private func here() throws -> XMLValueDecoder {
    let path = codingPath + [XMLKey(intValue: currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        XMLValue.self, DecodingError.Context(codingPath: path, debugDescription: "the array has no more elements"))
    }
    return XMLValueDecoder(.element(elements[currentIndex]), path: path, dates: decoder.dates)
  }
}

/// A coding key that is created at run time.
struct XMLKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }
}
