import ErrandSupport

extension JSONDocument {
  /// An array or object whose members are being created.
  private struct Open {
    /// The index in the document at which the container ends.
    let end: Int
    let isObject: Bool
    var key = ""
    var elements: [JSONValue] = []
    var members: [String: JSONValue] = [:]

    init(_ word: JSONWord) {
      end = word.place
      isObject = word.isObject
      // Reserve memory for all members. The parser has counted the members, so no text can claim more members than it
      // has.
      if isObject { members.reserveCapacity(word.length) } else { elements.reserveCapacity(word.length) }
    }

    mutating func append(_ value: JSONValue) {
      guard isObject else { return elements.append(value) }
      if members[key] == nil { members[key] = value }
    }

    var value: JSONValue { isObject ? .object(members) : .array(elements) }
  }

  /// Creates the whole value at an index, without references to the document. If an object has equal keys, the first
  /// key is used.
  ///
  /// Unfinished containers are kept in an array instead of on the stack, because worker threads on Apple platforms have
  /// only 512 KiB of stack.
  func value(at index: Int = 0) -> JSONValue {
    var open: [Open] = []
    var index = index
    while true {
      var word = word(index)
      if let last = open.indices.last, open[last].isObject, index < open[last].end {
        open[last].key = string(word)
        index += 1
        word = self.word(index)
      }
      var finished: JSONValue?
      if word.isContainer {
        open.append(Open(word))
        index += 2
      } else {
        finished = JSONValue(scalar(word))
        index += 1
      }
      while true {
        if let value = finished {
          guard let last = open.indices.last else { return value }
          open[last].append(value)
        }
        guard let last = open.indices.last, index == open[last].end else { break }
        finished = open.removeLast().value
      }
    }
  }

  /// Creates the value of a scalar. A number beyond the range of `Double` becomes infinite.
  func scalar(_ word: JSONWord) -> JSONValue.Content {
    switch word.kind {
    case .null, .array, .object, .objectWithKeyTable: return .null
    case .no: return .bool(false)
    case .yes: return .bool(true)
    case .plain, .escaped: return .string(string(word))
    case .integer:
      if let small = integer(word, as: Int64.self) { return .integer(small) }
      if let large = integer(word, as: UInt64.self) { return .unsigned(large) }
    case .decimal: break
    }
    return .number(double(word) ?? .infinity)
  }

  /// The first number in the value at an index that exceeds the range of `Double`; nil if there is no such number. The
  /// text of the number is shortened for messages.
  func numberBeyondDoubles(at index: Int) -> String? {
    guard hasVastNumbers else { return nil }
    let numbers = vastNumbers
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < index { low = middle + 1 } else { high = middle }
    }
    guard low < numbers.count, numbers[low] < end(of: index) else { return nil }
    return Self.shortened(numeral(word(Int(numbers[low]))))
  }

  /// The indices of all numbers that exceed the range of `Double`. They are found once for each document: types that
  /// contain each other ask for each of their values, so a search for each value would take quadratic time.
  private var vastNumbers: [UInt32] {
    if let numbers = known.withLock({ $0.vastNumbers }) { return numbers }
    var numbers: [UInt32] = []
    var index = 0
    while index < nothing {
      let word = word(index)
      let mayBeVast = word.isKind(.decimal) || word.isKind(.integer) && word.length > JSONDocumentParser.mostDigits
      if mayBeVast, double(word) == nil { numbers.append(UInt32(truncatingIfNeeded: index)) }
      index += word.isContainer ? 2 : 1
    }
    known.withLock { [numbers] in $0.vastNumbers = numbers }
    return numbers
  }

  static func shortened(_ numeral: String) -> String {
    numeral.utf8.count > 40 ? numeral.prefix(40) + "…" : numeral
  }
}

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

  /// The value for messages: a string without quotes, a number as its document writes it, such as 1.50, and any other
  /// value as JSON.
  package var messageText: String { stringValue ?? writtenNumber ?? description }

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
