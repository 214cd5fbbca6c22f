import ErrandJSON

/// The arguments of a request: names and values in the order they were written.
///
/// ```swift
/// var arguments: Arguments { ["q": text, "page": 2, "tags": ["a", "b"], "before": date] }   // a nil is left out
/// ```
public struct Arguments: Sendable, Hashable {
  /// One argument.
  public struct Entry: Sendable, Hashable {
    /// The name of the argument.
    public var name: String
    /// The value of the argument.
    public var value: ArgumentValue
  }

  /// The arguments in order, without omitted ones.
  public private(set) var entries: [Entry]

  /// Makes arguments from names and values.
  public init(_ pairs: [(String, ArgumentValue)] = []) {
    entries = pairs.compactMap { $1 == .omitted ? nil : Entry(name: $0, value: $1) }
  }

  /// Whether the list of arguments is empty.
  public var isEmpty: Bool { entries.isEmpty }

  /// The value of the argument with this name, or of the first one if several have the name. Setting a value replaces
  /// all arguments with the name; setting nil removes them.
  public subscript(name: String) -> (any ArgumentConvertible)? {
    get { entries.first { $0.name == name }?.value }
    set {
      let value = newValue?.argumentValue ?? .omitted
      guard value != .omitted else { return entries.removeAll { $0.name == name } }
      guard let place = entries.firstIndex(where: { $0.name == name }) else { return append(name, value) }
      entries[place].value = value
      let later = entries[(place + 1)...].filter { $0.name != name }
      entries.replaceSubrange((place + 1)..., with: later)
    }
  }

  /// Adds an argument at the end, even if its name already exists.
  public mutating func append(_ name: String, _ value: any ArgumentConvertible) {
    let value = value.argumentValue
    if value != .omitted { entries.append(Entry(name: name, value: value)) }
  }

  /// Returns these arguments, preceded by those arguments of `common` whose names do not occur in these arguments.
  public func merged(over common: Arguments) -> Arguments {
    if common.isEmpty { return self }
    let taken = Set(entries.map(\.name))
    var merged = Arguments()
    merged.entries = common.entries.filter { !taken.contains($0.name) } + entries
    return merged
  }
}

extension Arguments {
  /// The names of arguments that, judging by the name, contain secrets.
  var secretNames: [String] { entries.map(\.name).filter { JSONMask.isSecret(key: $0) } }

  /// These arguments without the arguments whose names mark secrets.
  var withoutSecrets: Arguments {
    var rest = self
    rest.entries.removeAll { JSONMask.isSecret(key: $0.name) }
    return rest
  }
}

extension Arguments: ExpressibleByDictionaryLiteral, ArgumentConvertible {
  /// Makes arguments from a literal, in the order of the literal. A name may occur more than once.
  public init(dictionaryLiteral elements: (String, any ArgumentConvertible)...) {
    self.init(elements.map { ($0, $1.argumentValue) })
  }

  /// The arguments as one nested value.
  public var argumentValue: ArgumentValue { .object(self) }
}
