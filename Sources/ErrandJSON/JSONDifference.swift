package import Foundation

/// A difference between a JSON document and the Swift type that should read it.
package struct JSONDifference: Sendable, Hashable {
  /// The kind of difference.
  package enum Kind: Sendable, Hashable {
    /// The document has a value that the type does not read.
    case notRead
    /// The type needs a value that the document does not have.
    case missing
    /// The type of the value does not match the Swift type, or the value is invalid.
    case otherType
    /// The text cannot be parsed.
    case unreadable
  }

  /// The kind of difference.
  package let kind: Kind
  /// The path in the keys of the text. If several paths differ only in array indices, this is the first of these paths.
  package let path: JSONPath
  /// The difference, as an English phrase.
  package let reason: String
  /// The number of paths with this difference.
  package internal(set) var count = 1
}

extension JSONDecoding {
  /// All differences between a text and a type: first the values that cannot be read, then the values that the type
  /// does not read.
  ///
  /// The search records each value that cannot be read, replaces it with a valid value, and decodes the text again. So
  /// one difference does not hide the next difference. If no replacement is valid, as for an enumeration, the search
  /// ends, and the last reason says that the rest was not compared.
  package func differences<T: Decodable>(of type: T.Type, in data: Data, at path: JSONPath) -> [JSONDifference] {
    if type is any JSONReadable.Type { return [] }
    do {
      var search = try JSONDifferenceSearch(data, decoding: self, at: path)
      return search.differences(of: type)
    } catch {
      return [JSONDifference(kind: .unreadable, path: .root, reason: error.clause)]
    }
  }
}

/// Finds differences one after the other: decodes the text, replaces the value that cannot be read, and repeats until
/// the text can be read.
private struct JSONDifferenceSearch {
  /// Replacements for values that cannot be read, tried in this order.
  private static let replacements: [JSONValue] = [
    "", 0, false, [], [:], "1970-01-01T00:00:00Z", "http://localhost/", "00000000-0000-0000-0000-000000000000",
  ]
  /// The maximum number of values that are replaced in one text.
  private static let mostReplacements = 1_000

  private let original: JSONValue
  private let decoding: JSONDecoding
  private let path: JSONPath
  private let reading = JSONReading()
  private var replacedPaths: [JSONPath] = []
  private var found: [JSONDifference] = []

  init(_ data: Data, decoding: JSONDecoding, at path: JSONPath) throws(JSONError) {
    original = try JSONValue(parsing: data)
    self.decoding = decoding
    self.path = path
  }

  mutating func differences<T: Decodable>(of type: T.Type) -> [JSONDifference] {
    var text = original
    var failure = failure(of: type, in: text)
    while let error = failure, replacedPaths.count < Self.mostReplacements {
      let isInsideReplacement = replacedPaths.contains { error.path.isBelow($0) }
      let next = replaceValue(at: error.path, in: text, type)
      if !isInsideReplacement { note(error, isLast: next == nil) }
      guard let next else { return found.collected() }
      replacedPaths.append(error.path)
      (text, failure) = next
    }
    return found.collected() + unread()
  }

  /// Replaces the value at the path with the first replacement that the type accepts. Returns the new text and the next
  /// failure, which is at another path; nil if no replacement is valid.
  private func replaceValue<T: Decodable>(
    at place: JSONPath, in text: JSONValue, _ type: T.Type
  ) -> (JSONValue, JSONDecodingError?)? {
    for replacement in Self.replacements {
      guard let replaced = text.replacing(place.steps[...], by: replacement) else { return nil }
      let failure = failure(of: type, in: replaced)
      if failure?.path != place { return (replaced, failure) }
    }
    return nil
  }

  /// Decodes a text and returns the error; nil if the text can be read. Records which values the type reads.
  private func failure<T: Decodable>(of type: T.Type, in value: JSONValue) -> JSONDecodingError? {
    let text: Data
    let shown: Data
    do throws(JSONError) {
      text = try value.serialized()
      shown = try decoding.textForFoundation(text, at: path)
    } catch {
      return nil
    }
    var route = decoding.route(to: path)
    route.trace = JSONTrace(noting: reading)
    do {
      _ = try decoding.decoder.decode(RoutedValue<T>.self, from: shown, configuration: .init(route: route, type: type))
      return nil
    } catch {
      return JSONDiagnosis(of: text, by: decoding).error(for: error, decoding: type, at: path)
    }
  }

  // MARK: - Results

  private mutating func note(_ error: JSONDecodingError, isLast: Bool) {
    let rest = isLast ? "; the rest of the document was not compared, so fix this difference first" : ""
    found.append(
      JSONDifference(
        kind: error.kind == .missingKey ? .missing : .otherType, path: error.path, reason: error.reason + rest))
  }

  private func unread() -> [JSONDifference] {
    var places: [JSONDifference] = []
    let start = decoding.route(to: path)
    if let value = original.value(at: path) { look(value, path, JSONPath(start.steps), &places) }
    return places.collected()
  }

  /// Appends the members of a value that the type does not read to `places`.
  /// - Parameter shown: The path of the value after the decoder's key strategy has converted the keys.
  private func look(_ value: JSONValue, _ path: JSONPath, _ shown: JSONPath, _ places: inout [JSONDifference]) {
    if reading.hasWhole(shown) { return }
    switch value.content {
    case .object(let members):
      let coding = JSONRoute(steps: shown.steps).codingKeys
      for (key, member) in members.sorted(by: { $0.key < $1.key }) {
        let name = decoding.convertedKey(key, below: coding)
        let (path, shown) = (path.appending(key: key), shown.appending(key: name))
        if reading.hasAsked(for: shown) {
          look(member, path, shown, &places)
        } else {
          places.append(
            JSONDifference(
              kind: .notRead, path: path, reason: "the type has no property for this member (\(member.typeName))"))
        }
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        look(element, path.appending(index: index), shown.appending(index: index), &places)
      }
    default: return
    }
  }
}

extension [JSONDifference] {
  /// The differences in the order of their first occurrence. Differences whose paths differ only in array indices are
  /// merged.
  fileprivate func collected() -> [JSONDifference] {
    var order: [JSONDifference] = []
    var places: [JSONDifference.Form: Int] = [:]
    for difference in self {
      if let place = places[difference.form] {
        order[place].count += 1
      } else {
        places[difference.form] = order.count
        order.append(difference)
      }
    }
    return order
  }
}

extension JSONDifference {
  fileprivate struct Form: Hashable {
    let kind: Kind
    let keys: [String?]
    let reason: String
  }

  fileprivate var form: Form {
    Form(kind: kind, keys: path.steps.map { if case .key(let key) = $0 { key } else { nil } }, reason: reason)
  }
}

extension JSONPath {
  fileprivate func isBelow(_ other: JSONPath) -> Bool {
    steps.count > other.steps.count && steps.starts(with: other.steps)
  }
}

extension JSONValue {
  /// A copy in which the value at a path is replaced. Missing members and the next element of an array are added. Nil
  /// if the path leads through a value that is neither an object nor an array.
  fileprivate func replacing(_ steps: ArraySlice<JSONPath.Step>, by value: JSONValue) -> JSONValue? {
    guard let step = steps.first else { return value }
    switch (step, content) {
    case (.key(let key), .object(var members)):
      members[key] = (members[key] ?? [:]).replacing(steps.dropFirst(), by: value)
      return members[key].map { _ in .object(members) }
    case (.index(let index), .array(var elements)) where index <= elements.count:
      let element = index < elements.count ? elements[index] : [:]
      guard let replaced = element.replacing(steps.dropFirst(), by: value) else { return nil }
      if index < elements.count { elements[index] = replaced } else { elements.append(replaced) }
      return .array(elements)
    default: return nil
    }
  }
}
