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
    let end = end(of: index)
    var index = index
    while index < end {
      let word = word(index)
      if word.isNumber, double(word) == nil { return Self.shortened(numeral(word)) }
      index += word.isContainer ? 2 : 1
    }
    return nil
  }

  static func shortened(_ numeral: String) -> String {
    numeral.utf8.count > 40 ? numeral.prefix(40) + "…" : numeral
  }
}
