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

  func decodeNil(forKey key: Key) throws -> Bool { at(key).isNil }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try at(key).decode(type) }

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
