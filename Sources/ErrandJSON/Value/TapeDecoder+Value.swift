/// Implements the accessors of a `JSONValue` that is part of a parsed text.
extension TapeDecoder {
  /// The content of the value, one level deep. If an object has equal keys, the first key is used.
  var content: JSONValue.Content {
    let document = source.document
    let word = document.word(index)
    switch word.kind {
    case .null, .no, .yes, .integer, .decimal, .plain, .escaped: return document.scalar(word)
    case .array:
      var elements: [JSONValue] = []
      elements.reserveCapacity(word.length)
      var here = index + 2
      while here < word.place {
        elements.append(JSONValue(.written(TapeDecoder(source: source, index: here))))
        here = document.end(of: here)
      }
      return .array(elements)
    case .object, .objectWithKeyTable:
      var members: [String: JSONValue] = [:]
      members.reserveCapacity(word.length)
      document.forEachMember(of: index) { key, value in
        let key = document.string(key)
        if members[key] == nil { members[key] = JSONValue(.written(TapeDecoder(source: source, index: value))) }
      }
      return .object(members)
    }
  }

  /// The string; nil if the value has another type.
  var string: String? {
    let word = source.document.word(index)
    return word.isString ? source.document.string(word) : nil
  }

  func member(_ key: String) -> TapeDecoder? {
    source.document.index(ofMember: key, in: index).map { TapeDecoder(source: source, index: $0) }
  }

  func element(_ number: Int) -> TapeDecoder? {
    source.document.element(number, of: index).map { TapeDecoder(source: source, index: $0) }
  }
}

extension JSONValue {
  /// The JSON value at an index of a parsed document. Swift types are read from the value with Foundation's default
  /// strategies.
  static func inText(_ document: JSONDocument, at index: Int) -> JSONValue {
    JSONValue(.written(TapeDecoder(source: TapeSource(document, rules: .standard), index: index)))
  }

  /// The text of a number that exceeds the range of `Double`; nil for any other value. The text is shortened for
  /// messages.
  var vastNumber: String? {
    guard case .written(let place) = form else { return nil }
    let document = place.source.document
    return document.word(place.index).isNumber ? document.numberBeyondDoubles(at: place.index) : nil
  }

  /// The text of a number in its document, shortened for messages. Nil for values of other types, and for values that
  /// were not parsed.
  var writtenNumber: String? {
    guard case .written(let place) = form else { return nil }
    let document = place.source.document
    let word = document.word(place.index)
    return word.isNumber ? JSONDocument.shortened(document.numeral(word)) : nil
  }

  /// The decoder for this value. If the value is not part of a parsed text, the value is first written to a text, and
  /// this text is parsed.
  func inText() throws(JSONError) -> TapeDecoder {
    if case .written(let place) = form { return place }
    let document = try JSONDocument(try serialized())
    return TapeDecoder(source: TapeSource(document, rules: .standard), index: 0)
  }
}

extension TapeSource {
  /// The JSON value at an index of the parsed document. The value can have any type. Its content is created on request.
  func json(at index: Int) throws(JSONError) -> JSONValue {
    if let number = document.numberBeyondDoubles(at: index) { throw JSONError.numberOutOfRange(number) }
    return JSONValue(.written(TapeDecoder(source: self, index: index)))
  }
}
