package import Foundation

/// A place where a document and a type differ.
package struct JSONMisfit: Sendable, Hashable {
  /// In what.
  package enum Kind: Sendable, Hashable {
    /// The document has a value that the type does not read.
    case notRead
    /// The type needs a value that the document does not have.
    case missing
    /// The value is of another type, or cannot be used.
    case otherType
    /// The text cannot be read at all.
    case unreadable
  }

  /// In what.
  package let kind: Kind
  /// Where, in the keys of the text: the first of several places that differ in indices alone.
  package let path: JSONPath
  /// In what, in words.
  package let reason: String
  /// At how many places.
  package internal(set) var count = 1
}

extension JSONDecoding {
  /// All places where a text and a type differ: first where it cannot be read, then what the type does not read.
  ///
  /// A place that cannot be read is noted, mended by a value that can, and the text is read once more; so one
  /// difference does not hide the next. Where no value will do, such as for an enumeration, the rest is not looked at,
  /// and the reason says so.
  package func misfits<T: Decodable>(of type: T.Type, in data: Data, at path: JSONPath) -> [JSONMisfit] {
    if type is any JSONReadable.Type { return [] }
    do {
      var search = try JSONMisfitSearch(data, decoding: self, at: path)
      return search.misfits(of: type)
    } catch {
      return [JSONMisfit(kind: .unreadable, path: .root, reason: error.clause)]
    }
  }
}

/// Reads, mends and reads again.
private struct JSONMisfitSearch {
  /// What stands in for values that are not there; the first that can be read counts.
  private static let standIns: [JSONValue] = [
    "", 0, false, [], [:], "1970-01-01T00:00:00Z", "http://localhost/", "00000000-0000-0000-0000-000000000000",
  ]
  /// How often at most a text is mended.
  private static let mendings = 1_000

  private let original: JSONValue
  private let decoding: JSONDecoding
  private let path: JSONPath
  private let reading = JSONReading()
  private var mended: [JSONPath] = []
  private var found: [JSONMisfit] = []

  init(_ data: Data, decoding: JSONDecoding, at path: JSONPath) throws(JSONError) {
    original = try JSONValue(parsing: data)
    self.decoding = decoding
    self.path = path
  }

  mutating func misfits<T: Decodable>(of type: T.Type) -> [JSONMisfit] {
    var text = original
    var failure = failure(of: type, in: text)
    while let error = failure, mended.count < Self.mendings {
      let isInsideStandIn = mended.contains { error.path.isBelow($0) }
      let next = mend(error.path, in: text, type)
      if !isInsideStandIn { note(error, isLast: next == nil) }
      guard let next else { return collected() }
      mended.append(error.path)
      (text, failure) = next
    }
    return collected() + unread()
  }

  /// The text with a stand-in, and how it fails then: elsewhere or not at all. Nil where none will do.
  private func mend<T: Decodable>(
    _ place: JSONPath, in text: JSONValue, _ type: T.Type
  ) -> (JSONValue, JSONDecodingError?)? {
    for standIn in Self.standIns {
      guard let mended = text.replacing(place.steps[...], by: standIn) else { return nil }
      let failure = failure(of: type, in: mended)
      if failure?.path != place { return (mended, failure) }
    }
    return nil
  }

  /// How a text fails; nil where it can be read. What is read is noted.
  private func failure<T: Decodable>(of type: T.Type, in value: JSONValue) -> JSONDecodingError? {
    let text: Data
    do throws(JSONError) { text = try value.serialized() } catch { return nil }
    var route = decoding.route(to: path)
    route.trace = JSONTrace(noting: reading)
    do {
      _ = try decoding.decoder.decode(Located<T>.self, from: text, configuration: .init(route: route, type: type))
      return nil
    } catch {
      return JSONDiagnosis(of: text, by: decoding).error(for: error, decoding: type, at: path)
    }
  }

  // MARK: - What was found

  private mutating func note(_ error: JSONDecodingError, isLast: Bool) {
    let rest = isLast ? "; what differs behind it shows when this is mended" : ""
    found.append(
      JSONMisfit(
        kind: error.kind == .missingKey ? .missing : .otherType, path: error.path, reason: error.reason + rest))
  }

  /// What was found, places that differ in indices alone taken together.
  private func collected() -> [JSONMisfit] { found.collected() }

  private func unread() -> [JSONMisfit] {
    var places: [JSONMisfit] = []
    let start = decoding.route(to: path)
    if let value = original.value(at: path) { look(value, path, JSONPath(start.steps), &places) }
    return places.collected()
  }

  /// - Parameter shown: The path in keys as the decoder shows them.
  private func look(_ value: JSONValue, _ path: JSONPath, _ shown: JSONPath, _ places: inout [JSONMisfit]) {
    if reading.hasWhole(shown) { return }
    switch value.content {
    case .object(let members):
      for (key, member) in members.sorted(by: { $0.key < $1.key }) {
        let (path, shown) = (path.appending(key: key), shown.appending(key: decoding.convertedKey(key)))
        if reading.hasAsked(for: shown) {
          look(member, path, shown, &places)
        } else {
          places.append(JSONMisfit(kind: .notRead, path: path, reason: "the type does not read \(member.typeName)"))
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

extension [JSONMisfit] {
  /// Those that differ in indices alone taken together, in the order of the first.
  fileprivate func collected() -> [JSONMisfit] {
    var order: [JSONMisfit] = []
    var places: [JSONMisfit.Form: Int] = [:]
    for misfit in self {
      if let place = places[misfit.form] {
        order[place].count += 1
      } else {
        places[misfit.form] = order.count
        order.append(misfit)
      }
    }
    return order
  }
}

extension JSONMisfit {
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
  /// The value with another one at a place, which is made where it is missing; nil where the way there is not.
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
