@testable import ErrandJSON
import Foundation

/// Our decoder beside Foundation's: the same value or the same failure.
enum DecodeTargets {
  private static let plain = JSONDecoder()
  private static let converting: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .secondsSince1970
    decoder.dataDecodingStrategy = .deferredToData
    return decoder
  }()

  /// The first byte chooses the type and the strategies.
  static func decode(_ input: FuzzInput) {
    guard let (choice, rest) = input.choice else { return }
    let decoder = choice & 0x40 == 0 ? plain : converting
    switch choice & 7 {
    case 0: compare(Row.self, rest.data, decoder)
    case 1: compare([[String: [UInt64?]]].self, rest.data, decoder, hasOrder: false)
    case 2: compare([Int: Bool].self, rest.data, decoder, hasOrder: false)
    case 3: compare([Figure].self, rest.data, decoder)
    case 4: compare(Ladder.self, rest.data, decoder, hasOrder: false)
    case 5: compare(Upper.self, rest.data, decoder)
    case 6: compare([String: JSONValue].self, rest.data, plain, hasOrder: false, holdsValues: true)
    default: compare(Person.self, rest.data, converting)
    }
  }

  /// - Parameter hasOrder: Whether the type reads in an order, so that of two failures one comes first. Foundation reads the
  ///   members of dictionaries in an order that changes.
  private static func compare<Value: Decodable & Equatable>(
    _ type: Value.Type, _ text: Data, _ decoder: JSONDecoder, hasOrder: Bool = true,
    holdsValues: Bool = false
  ) {
    let own = Result { try JSONDecoding.fast(by: decoder).decode(type, from: text) }
    guard let document = try? JSONDocument(text) else {
      if case .success = own { fatalError("property: what is no JSON is not decoded") }
      return
    }
    // Foundation takes less for UTF-16: a string may begin with any character.
    guard (try? JSONText.utf8(of: text)) == text else { return }
    guard isPlain(document, 0), !holdsValues || isPlainValue(document) else { return }
    switch (own, Result { try decoder.decode(type, from: text) }) {
    case (.success(let value), .success(let due)):
      check(value == due, "\(value) is \(due)")
    case (.failure(let error), .failure(let due)):
      let failure = Failure((error as? JSONDecodingError)?.underlying ?? error)
      check(!hasOrder || failure.isSame(as: Failure(due)), "\(failure) is \(Failure(due))")
    // Where a strategy turns keys, Foundation reads even those of equal keys in a dictionary that do not count.
    case (.success, .failure) where decoder === converting && hasEqualKeys(document): break
    case (let own, let due):
      fatalError("property: \(own) is \(due)")
    }
  }

  /// Whether all keys are ASCII, as Foundation takes the same letters in another composition for one key; and no fraction
  /// is there that Foundation rounds in another way, takes for a whole number, or finds too small.
  private static func isPlain(_ document: JSONDocument, _ index: Int) -> Bool {
    let word = document.word(index)
    guard word.isContainer else {
      guard word.kind == .decimal, let double = document.double(word) else { return true }
      return 0x1p-100...0x1p53 ~= double.magnitude
    }
    var next = index + 2
    while next < word.place {
      if word.isObject {
        guard document.string(document.word(next)).utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        next += 1
      }
      guard isPlain(document, next) else { return false }
      next = document.end(of: next)
    }
    return true
  }

  /// Whether all numbers fit, no key stands twice, and nesting stays below the limit that `Codable` sets to any value.
  private static func isPlainValue(_ document: JSONDocument) -> Bool {
    guard document.numberBeyondDoubles(at: 0) == nil, !hasEqualKeys(document) else { return false }
    return words(document).count(where: \.isContainer) < 150
  }

  /// Whether a key may stand twice in one object.
  private static func hasEqualKeys(_ document: JSONDocument) -> Bool {
    words(document).contains { $0.kind == .objectWithKeyTable }
  }

  private static func words(_ document: JSONDocument) -> some Sequence<JSONWord> {
    sequence(state: 0) { index in
      guard index < document.end(of: 0) else { return nil }
      let word = document.word(index)
      index += word.isContainer ? 2 : 1
      return word
    }
  }

  /// What of an error is compared.
  private struct Failure: CustomStringConvertible {
    let kind: String
    let path: [String]
    let detail: String

    init(_ error: any Error) {
      switch error as? DecodingError {
      case .keyNotFound(let key, let context): self.init("key", context.codingPath, key.stringValue)
      case .typeMismatch(let type, let context): self.init("type", context.codingPath, "\(type)")
      case .valueNotFound(let type, let context): self.init("value", context.codingPath, "\(type)")
      case .dataCorrupted(let context): self.init("data", context.codingPath, "")
      default: self.init(error is JSONError ? "data" : "own", [], error is JSONError ? "" : "\(error)")
      }
    }

    private init(_ kind: String, _ path: [any CodingKey], _ detail: String) {
      (self.kind, self.path, self.detail) = (kind, path.map(\.stringValue), detail)
    }

    /// Foundation tells no path, or not the whole of it, for numbers that do not fit.
    func isSame(as foundation: Failure) -> Bool {
      let goesOn = foundation.kind == "data" && path.starts(with: foundation.path)
      return kind == foundation.kind && detail == foundation.detail && (path == foundation.path || goesOn)
    }

    var description: String { "\(kind) \(detail) at \(path)" }
  }
}

// MARK: - What is decoded

private final class Row: Decodable, Equatable {
  let id: Int, tags: [String], size: Double?, on: Bool?, at: Date?, link: URL?, raw: Data?, userName: String?
  let inner: Row?

  static func == (left: Row, right: Row) -> Bool {
    left.id == right.id && left.tags == right.tags && left.size == right.size && left.on == right.on
      && left.at == right.at && left.link == right.link && left.raw == right.raw && left.inner == right.inner
      && left.userName == right.userName
  }
}

private struct Person: Decodable, Equatable {
  let userName: String, homeTown: Town?
  struct Town: Decodable, Equatable { let zipCode: UInt8? }
}

private enum Figure: Decodable, Equatable {
  case circle(bigRadius: Float)
  case dot
  case pair(Int8, String?)
}

/// Tries one type after the other.
private enum Ladder: Decodable, Equatable {
  case nothing, truth(Bool), number(Int16), fraction(Double), text(String), list([Ladder]), object([String: Ladder])

  init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    // Deeper ladders would be at the end of the stack.
    if single.decodeNil() || decoder.codingPath.count > 60 {
      self = .nothing
    } else if let value = try? single.decode(Bool.self) {
      self = .truth(value)
    } else if let value = try? single.decode(Int16.self) {
      self = .number(value)
    } else if let value = try? single.decode(Double.self) {
      self = .fraction(value)
    } else if let value = try? single.decode(String.self) {
      self = .text(value)
    } else if (try? decoder.unkeyedContainer()) != nil {
      self = .list(try [Ladder](from: decoder))
    } else {
      self = .object(try single.decode([String: Ladder].self))
    }
  }
}

/// Asks for containers and super decoders, and notes what they tell.
private struct Upper: Decodable, Equatable {
  var lines: [String] = []

  enum Key: String, CodingKey { case list, name, nM, gone }
  private struct Leaf: Decodable { let id: Int }

  init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    note(object.allKeys.map(\.rawValue).sorted())
    note(object.contains(.gone))
    note(try? Leaf(from: object.superDecoder()).id)
    note(try? object.decodeNil(forKey: .nM))
    note(try? object.decodeIfPresent(Int.self, forKey: .nM))
    note(try? object.nestedContainer(keyedBy: Key.self, forKey: .name).allKeys.count)
    var list = try object.nestedUnkeyedContainer(forKey: .list)
    while !list.isAtEnd {
      note("\(list.currentIndex) of \(list.count ?? -1), \(list.codingPath.map(\.stringValue))")
      if let leaf = try? list.decode(Leaf.self) {
        note(leaf.id)
      } else if try !list.decodeNil() {
        let upper = try list.superDecoder()
        note(upper.codingPath.map(\.stringValue))
        note(try? [Int?](from: upper))
      }
    }
    note(try object.decode(String.self, forKey: .name))
  }

  private mutating func note(_ value: Any?) { lines.append(value.map { "\($0)" } ?? "-") }
}
