import ErrandSupport

/// One decoding: a document, and the rules by which types read it. May be kept after the decoding and used by several
/// threads.
final class TapeSource: Sendable {
  let document: JSONDocument
  let rules: TapeRules
  /// The way to what a decoder reads that stands for a value that is not there; nil for all others.
  private let absent: [any CodingKey]?
  /// The way to the document, where it was taken from a larger one.
  private let start: [any CodingKey]
  private let kept = Locked(Kept())

  /// What a decoding finds out on its way, where it has to.
  private struct Kept {
    var places = TapePlaces()
    /// The objects that were read as dictionaries, where rules turn the keys of all others.
    var dictionaries: Set<Int> = []
  }

  init(
    _ document: JSONDocument, rules: TapeRules, absent: [any CodingKey]? = nil, below start: [any CodingKey] = []
  ) {
    self.document = document
    self.rules = rules
    self.absent = absent
    self.start = start
  }

  /// The value of a type at an index: by its own code, unless the tape knows the type.
  func value<T: Decodable>(_ type: T.Type, at index: Int) throws -> T {
    switch TapeReaders.shared.reader(of: type) {
    case .ownCode: return try type.init(from: TapeDecoder(source: self, index: index))
    case .tape(let reader): return try value(type, at: index, reader: reader)
    case .json(let reader): return try value(type, at: index, reader: reader)
    }
  }

  private func value<T, Reader: TapeReadable>(_ type: T.Type, at index: Int, reader: Reader.Type) throws -> T {
    try JSONSameType.move(to: type) { try Reader.read(from: self, at: index) }
  }

  private func value<T, Reader: JSONReadable>(_ type: T.Type, at index: Int, reader: Reader.Type) throws -> T {
    try JSONSameType.move(to: type) { try Reader(json: JSONValue.read(from: self, at: index)) }
  }

  /// A decoder for a value that is not there: it finds null.
  func absentDecoder(at path: [any CodingKey]) -> TapeDecoder {
    TapeDecoder(source: TapeSource(document, rules: rules, absent: path), index: document.nothing)
  }

  /// Notes that an object was read as a dictionary: no rule turns its keys, as they are data.
  func noteDictionary(_ object: Int) {
    guard !rules.keepsKeys else { return }
    kept.withLock { _ = $0.dictionaries.insert(object) }
  }

  // MARK: - The way to a value

  func path(to index: Int) -> [any CodingKey] {
    if let absent { return absent }
    let (steps, dictionaries) = kept.withLock { ($0.places.steps(to: index, in: document), $0.dictionaries) }
    var path = start
    for step in steps {
      guard document.word(step.container).isObject else {
        path.append(AnyKey(intValue: step.number))
        continue
      }
      let key = document.string(document.word(step.value - 1))
      path.append(AnyKey(dictionaries.contains(step.container) ? key : rules.name(of: key, in: path)))
    }
    return path
  }
}
