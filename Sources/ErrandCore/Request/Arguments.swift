import ErrandJSON
import ErrandSupport

/// The arguments of a request: names and values in the order in which they were written.
///
/// Names and values are compared by their bytes, as servers do: `é` as one scalar and `é` as a letter with a combining
/// accent are different names.
///
/// ```swift
/// var arguments: Arguments { ["q": text, "page": 2, "tags": ["a", "b"], "before": date] }   // a nil is left out
/// ```
public struct Arguments: Sendable, Hashable {
  /// One argument: its name and its value.
  public struct Entry: Sendable, Hashable, ComparedByBytes {
    /// The name of the argument.
    public var name: String
    /// The value of the argument.
    public var value: ArgumentValue
    /// Whether the name is a coding key of an encoded type. The key strategy of ``Formats/jsonEncoding`` converts such
    /// names in JSON, as it does in bodies. The flag is not part of the identity.
    var isCodingKey = false

    package var identity: some Hashable { Parts(ByteText(name), value) }
  }

  /// The arguments in order. Arguments with the value ``ArgumentValue/omitted`` are not included.
  public private(set) var entries: [Entry]
  /// The reason why the arguments cannot be sent; nil if they can. ``init(encoding:)`` sets it, because the property
  /// ``APIRequest/arguments`` cannot throw.
  private(set) var failure: EncodingFailure?

  /// The value of a type could not be encoded.
  struct EncodingFailure: Sendable, Hashable {
    let type: String
    let reason: String
  }

  /// Makes arguments from names and values.
  public init(_ pairs: [(String, ArgumentValue)] = []) {
    entries = pairs.compactMap { $1.isOmitted ? nil : Entry(name: $0, value: $1) }
  }

  /// Makes arguments from the members of an encoded value.
  /// - Parameter areCodingKeys: False if the names are the keys of a dictionary, which are data.
  init(members: [(String, ArgumentValue)], areCodingKeys: Bool) {
    self.init(members)
    for index in entries.indices { entries[index].isCodingKey = areCodingKeys }
  }

  /// Makes arguments from a dictionary, sorted by name.
  ///
  /// ```swift
  /// var arguments: Arguments { Arguments(fields) }   // let fields: [String: String]
  /// ```
  public init(_ values: [String: any ArgumentConvertible]) {
    self.init(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.argumentValue) })
  }

  /// Not available. The type of the values must be known.
  @available(
    *, unavailable,
    message: "let the dictionary be a `[String: any ArgumentConvertible]`, or write `Arguments(encoding: value)`"
  )
  public init(_ values: [String: Any]) { self.init() }

  /// Makes arguments from the properties of any `Encodable` value, with the names of its `CodingKeys`, in the order in
  /// which the type encodes them. A property that is nil is left out. In a query or a form, ``ArgumentStyle`` decides
  /// how dates, lists and nested objects are written, and `Data` is written in Base64.
  ///
  /// ```swift
  /// struct Filter: Encodable, Sendable { var text: String; var since: Date?; var tags: [String] }
  /// var arguments: Arguments { Arguments(encoding: filter) }   // ?text=tea&tags=a&tags=b
  /// ```
  ///
  /// If the arguments are sent as JSON, ``Formats/jsonEncoding`` applies as to a body: its key strategy to the names of
  /// the `CodingKeys`, its strategies to dates and `Data`.
  ///
  /// If the value cannot be encoded, or is not an object, the call fails with ``APIError/Code/invalidArgument``.
  public init(encoding value: some Encodable) {
    do {
      self = try ArgumentEncoder.arguments(value)
    } catch {
      self.init()
      failure = EncodingFailure(type: "\(type(of: value))", reason: APIError.writingClause(error))
    }
  }

  /// Whether the list of arguments is empty.
  public var isEmpty: Bool { entries.isEmpty && failure == nil }

  /// The value of the first argument with this name; nil if no argument has the name. Setting a value replaces all
  /// arguments with the name. Setting nil removes all of them.
  public subscript(name: String) -> (any ArgumentConvertible)? {
    get { entries.first { $0.name.hasSameBytes(as: name) }?.value }
    set {
      let value = newValue?.argumentValue ?? .omitted
      guard !value.isOmitted else { return entries.removeAll { $0.name.hasSameBytes(as: name) } }
      guard let place = entries.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else {
        return append(name, value)
      }
      entries[place].value = value
      let later = entries[(place + 1)...].filter { !$0.name.hasSameBytes(as: name) }
      entries.replaceSubrange((place + 1)..., with: later)
    }
  }

  /// Adds an argument at the end, even if its name already exists.
  public mutating func append(_ name: String, _ value: any ArgumentConvertible) {
    let value = value.argumentValue
    if !value.isOmitted { entries.append(Entry(name: name, value: value)) }
  }

  /// Returns the arguments of `common`, followed by these arguments. An argument of `common` is left out if its name
  /// occurs in these arguments.
  public func merged(over common: Arguments) -> Arguments {
    if common.isEmpty { return self }
    let taken = Set(entries.map { ByteText($0.name) })
    var merged = Arguments()
    merged.failure = failure ?? common.failure
    merged.entries = common.entries.filter { !taken.contains(ByteText($0.name)) } + entries
    return merged
  }
}

extension Arguments {
  /// The names of the arguments, for dumps, in which the values are masked.
  var names: [String] { entries.map(\.name) }

  /// A copy without the arguments whose names suggest a secret, such as `token`. Such members are also removed from the
  /// objects in the values.
  var withoutSecrets: Arguments { removingSecrets { _ in true } }

  /// A copy in which the secrets of the arguments with certain names are removed. The other arguments stay as they are.
  func removingSecrets(of isConcerned: (ByteText) -> Bool) -> Arguments {
    var rest = self
    rest.entries = entries.compactMap { entry -> Entry? in
      guard isConcerned(ByteText(entry.name)) else { return entry }
      if JSONMask.isSecret(key: entry.name) { return nil }
      var shown = entry
      shown.value = entry.value.withoutSecrets
      return shown
    }
    return rest
  }

  /// A copy for JSON: the key strategy converts the names that are coding keys. All other names are data and are kept.
  /// - Parameter path: The path of the object that the arguments make.
  func named(by encoding: JSONEncoding, at path: JSONPath = .root) -> Arguments {
    guard encoding.convertsKeys else { return self }
    var named = self
    named.entries = entries.map { entry in
      Entry(
        name: entry.isCodingKey ? encoding.name(of: entry.name, at: path) : entry.name,
        value: entry.value.named(by: encoding, at: path.appending(key: entry.name)))
    }
    return named
  }
}

extension ArgumentValue {
  /// A copy without the members of objects whose names suggest a secret, at every depth.
  fileprivate var withoutSecrets: ArgumentValue {
    switch self {
    case .array(let values): .array(values.map(\.withoutSecrets))
    case .object(let members): .object(members.withoutSecrets)
    default: self
    }
  }

  fileprivate func named(by encoding: JSONEncoding, at path: JSONPath) -> ArgumentValue {
    switch self {
    case .array(let values):
      .array(values.enumerated().map { $0.element.named(by: encoding, at: path.appending(index: $0.offset)) })
    case .object(let members): .object(members.named(by: encoding, at: path))
    default: self
    }
  }
}

extension Arguments: ExpressibleByDictionaryLiteral, ArgumentConvertible {
  /// Makes arguments from a literal, in the order of the literal. A name may occur more than once.
  public init(dictionaryLiteral elements: (String, any ArgumentConvertible)...) {
    self.init()
    entries.reserveCapacity(elements.count)
    for (name, value) in elements { append(name, value) }
  }

  /// The arguments as one object, which can be the value of another argument.
  public var argumentValue: ArgumentValue { .object(self) }
}
