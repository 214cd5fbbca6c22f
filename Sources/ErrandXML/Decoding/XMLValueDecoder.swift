/// The decoder and the single value container of one value in a document: an element, several elements with one name,
/// or a text.
struct XMLValueDecoder: Decoder, SingleValueDecodingContainer {
  /// The part of the document that this decoder decodes.
  enum Found {
    /// The decoder decodes one element: the root element, or an element of an array.
    case element(XMLValue)
    /// The decoder decodes all child elements with one name. The array is empty if no child element has the name.
    case children([XMLValue])
    /// The decoder decodes a text: the value of an attribute, or the text directly inside an element.
    case text(String)
  }

  let found: Found
  let codingPath: [any CodingKey]
  let dates: XMLDates
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(_ found: Found, path: [any CodingKey], dates: XMLDates) {
    self.found = found
    codingPath = path
    self.dates = dates
  }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let value = try XMLScalar(self).value(as: type) { return value }
    return try type.init(from: self)
  }

  // The protocols of containers have implementations for integers of 128 bits, which only throw an error. So each
  // container has its own.
  func decode(_ type: Int128.Type) throws -> Int128 { try XMLScalar(self).integer(as: type) }

  func decode(_ type: UInt128.Type) throws -> UInt128 { try XMLScalar(self).integer(as: type) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(XMLKeyed(decoder: self, element: try element()))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch found {
    case .element(let element): XMLUnkeyed(decoder: self, elements: element.children)
    case .children(let elements): XMLUnkeyed(decoder: self, elements: elements)
    case .text: throw mismatch([Any].self)
    }
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  /// The element that this decoder decodes. Throws if there is no element, or more than one element.
  func element() throws -> XMLValue {
    switch found {
    case .element(let element): return element
    case .children(let elements):
      guard let first = elements.first else { throw missing }
      guard elements.count == 1 else {
        throw failure(
          "expected one element <\(first.shownName)>, found \(elements.count); use an array type to read all elements")
      }
      return first
    case .text: throw mismatch([String: Any].self)
    }
  }

  /// The text that this decoder decodes. Throws if the element contains child elements.
  func text() throws -> String {
    if case .text(let text) = found { return text }
    let element = try element()
    guard let inner = element.content.firstElement else { return element.text }
    throw failure("expected only text, found the element <\(inner.shownName)>")
  }

  /// Whether the value becomes nil if it is decoded as an optional type.
  func decodeNil() -> Bool {
    guard case .text = found else {
      guard let element = try? element() else { return isMissing }
      return (element.attributes.isEmpty && element.content.isEmpty) || Self.saysNil(element)
    }
    return false
  }

  private var isMissing: Bool { if case .children(let elements) = found { elements.isEmpty } else { false } }

  /// Whether the attribute `xsi:nil` of XML Schema marks the element as nil. The attribute counts only with the usual
  /// prefix `xsi`.
  private static func saysNil(_ element: XMLValue) -> Bool {
    ["true", "1"].contains(element.attributes["xsi:nil"])
  }

  // MARK: - Errors

  private var missing: DecodingError {
    guard let key = codingPath.last else { return .valueNotFound(XMLValue.self, context("the value is missing")) }
    let text = "no element or attribute has this name"
    return .keyNotFound(key, DecodingError.Context(codingPath: codingPath.dropLast(), debugDescription: text))
  }

  func mismatch(_ type: any Any.Type) -> DecodingError { .typeMismatch(type, context("expected \(type), found text")) }

  /// An error with the given message and the coding path of this value.
  func failure(_ words: String) -> XMLMismatch { XMLMismatch(words: words, path: codingPath) }

  private func context(_ words: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath, debugDescription: words)
  }
}

/// The error for a value that does not fit its type. It has a message and the coding path.
struct XMLMismatch: Error {
  let words: String
  let path: [any CodingKey]
}

extension [XMLValue.Content] {
  fileprivate var firstElement: XMLValue? {
    for case .element(let element) in self { return element }
    return nil
  }
}

/// The keyed decoding container of an element. Its keys are the names of the element's children and attributes.
struct XMLKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let decoder: XMLValueDecoder
  private let element: XMLValue
  /// The child elements, grouped by name, so that a lookup does not search all child elements.
  private let byName: [String: [XMLValue]]

  init(decoder: XMLValueDecoder, element: XMLValue) {
    self.decoder = decoder
    self.element = element
    byName = Dictionary(grouping: element.children, by: \.name)
  }

  var codingPath: [any CodingKey] { decoder.codingPath }

  var allKeys: [Key] {
    var names: [String] = []
    var seen: Set<String> = []
    for child in element.children where seen.insert(child.name).inserted { names.append(child.name) }
    names += element.attributes.keys.filter { !seen.contains($0) }.sorted()
    return names.compactMap { Key(stringValue: $0) }
  }

  func contains(_ key: Key) -> Bool {
    if case .children(let elements) = find(key.stringValue) { !elements.isEmpty } else { true }
  }

  func decodeNil(forKey key: Key) throws -> Bool { at(key).decodeNil() }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try at(key).decode(type) }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try at(key).decode(type) }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try at(key).decode(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try at(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try at(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoder }

  func superDecoder(forKey key: Key) throws -> any Decoder { at(key) }

  private func at(_ key: Key) -> XMLValueDecoder {
    XMLValueDecoder(find(key.stringValue), path: codingPath + [key], dates: decoder.dates)
  }

  private func find(_ name: String) -> XMLValueDecoder.Found {
    if name == "#text" { return .text(element.text) }
    if name.first == "@" { return element.attributes[String(name.dropFirst())].map { .text($0) } ?? .children([]) }
    let children = name.first == "{" ? element.children(name) : byName[name] ?? []
    if children.isEmpty, let value = element.attributes[name] { return .text(value) }
    return .children(children)
  }
}

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
    guard try here().decodeNil() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try step { try $0.decode(type) } }

  mutating func decode(_ type: Int128.Type) throws -> Int128 { try step { try $0.decode(type) } }

  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try step { try $0.decode(type) } }

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
