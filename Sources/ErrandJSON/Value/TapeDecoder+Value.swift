/// What a `JSONValue` that lies in a text is asked for.
extension TapeDecoder {
  /// What lies there, one level of it. Of equal keys the first one counts.
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
    case .object, .crowd:
      var members: [String: JSONValue] = [:]
      members.reserveCapacity(word.length)
      document.forEachMember(of: index) { key, value in
        let key = document.string(key)
        if members[key] == nil { members[key] = JSONValue(.written(TapeDecoder(source: source, index: value))) }
      }
      return .object(members)
    }
  }

  /// The text that lies there; nil for every other type.
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
  /// A value of a document, to be read by Foundation's defaults.
  static func inText(_ document: JSONDocument, at index: Int) -> JSONValue {
    JSONValue(.written(TapeDecoder(source: TapeSource(document, rules: .standard), index: index)))
  }

  /// The number of a text that is beyond all doubles, as messages name it; nil for any other value.
  var vastNumber: String? {
    guard case .written(let place) = form else { return nil }
    let document = place.source.document
    return document.word(place.index).isNumber ? document.numberBeyondDoubles(at: place.index) : nil
  }

  /// The text of a number in its document, shortened for messages; nil for other values, and for those without a document.
  var writtenNumber: String? {
    guard case .written(let place) = form else { return nil }
    let document = place.source.document
    let word = document.word(place.index)
    return word.isNumber ? JSONDocument.shortened(document.numeral(word)) : nil
  }

  /// Where the value lies in a text, which is written for one that was made.
  func inText() throws(JSONError) -> TapeDecoder {
    if case .written(let place) = form { return place }
    let document = try JSONDocument(try serialized())
    return TapeDecoder(source: TapeSource(document, rules: .standard), index: 0)
  }
}

extension TapeSource {
  /// A value as it lies there, of whatever type.
  /// - Throws: ``JSONError``: a number in it is beyond all doubles.
  func json(at index: Int) throws(JSONError) -> JSONValue {
    if let number = document.numberBeyondDoubles(at: index) { throw JSONError.numberOutOfRange(number) }
    return JSONValue(.written(TapeDecoder(source: self, index: index)))
  }
}
