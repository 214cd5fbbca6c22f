/// The unkeyed container of sibling elements.
struct XMLUnkeyed: UnkeyedDecodingContainer {
  private let place: XMLPlace
  private let elements: [XMLValue]
  private(set) var currentIndex = 0

  init(place: XMLPlace, elements: [XMLValue]) {
    self.place = place
    self.elements = elements
  }

  var codingPath: [any CodingKey] { place.codingPath }
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

  /// Reads the current element and, on success, advances to the next one.
  private mutating func step<T>(_ read: (XMLPlace) throws -> T) throws -> T {
    let value = try read(here())
    currentIndex += 1
    return value
  }

  private func here() throws -> XMLPlace {
    let path = codingPath + [XMLKey(intValue: currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        XMLValue.self, DecodingError.Context(codingPath: path, debugDescription: "there are no more elements"))
    }
    return XMLPlace(.element(elements[currentIndex]), path: path, dates: place.dates)
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
