public import Foundation

/// How typed values are read from JSON bodies: strategies for dates, keys and data, or a decoder of your choice.
///
/// ``fast`` and ``fast(dates:keys:data:)`` use Errand's own decoder. The initializer and ``foundation(_:)`` use
/// Foundation's `JSONDecoder`.
///
/// Each `JSONDecoding` makes one decoder, which all calls share. Any number of threads may use it at the same time,
/// because a `JSONDecoder` whose settings do not change keeps no state between calls.
///
/// ```swift
/// let decoding = JSONDecoding.fast(dates: .iso8601, keys: .convertFromSnakeCase)
/// let user = try decoding.decode(User.self, from: body, at: "data.user")
/// ```
public struct JSONDecoding: Sendable {
  let decoder: JSONDecoder
  /// The decoding rules for Errand's own parser; nil if only Foundation can read the text.
  private let rules: TapeRules?
  private let isOnTape: Bool
  private let convertsKeys: Bool
  /// Whether this value is a placeholder. It is then replaced by the rules of the request's family (a group of requests
  /// of one API) or of the client.
  package private(set) var isInherited = false

  /// The decoding rules that the request's family (a group of requests of one API) or the client declares.
  public static let inherited = {
    var decoding = JSONDecoding.standard
    decoding.isInherited = true
    return decoding
  }()

  /// The rules to use: `other` if this value is ``inherited``, otherwise this value.
  package func filled(by other: JSONDecoding?) -> JSONDecoding { isInherited ? other ?? self : self }

  /// `JSONDecoder` with its default strategies: keys as written, dates as seconds since 2001, data in Base64.
  public static let standard = JSONDecoding()

  /// Decoding by a `JSONDecoder` with the given strategies. ``fast(dates:keys:data:)`` follows the same strategies and
  /// takes a quarter of the time.
  public init(
    dates: JSONDecoder.DateDecodingStrategy = .deferredToDate,
    keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
    data: JSONDecoder.DataDecodingStrategy = .base64
  ) {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = dates
    decoder.keyDecodingStrategy = keys
    decoder.dataDecodingStrategy = data
    if let key = TapeRules.inUserInfo { decoder.userInfo[key] = TapeRules(valuesOf: decoder) }
    self.init(decoder, onTape: false)
  }

  /// The rules by which Errand's own parser reads a type from a text; nil if Foundation's parser reads the type.
  ///
  /// Errand's own parser also reads the texts with numbers at which `JSONDecoder` ends the process.
  func tape(for type: (some Decodable).Type, in data: Data) -> TapeRules? {
    if isOnTape || type is any JSONReadable.Type { return rules }
    guard let rules, let text = try? JSONText.utf8(of: data) else { return nil }
    return FoundationText.fatalNumber(in: text) == nil ? nil : rules
  }

  /// Whether this value and `other` use the same decoder instance in the same way.
  package func isSame(as other: JSONDecoding) -> Bool {
    decoder === other.decoder && isOnTape == other.isOnTape
  }

  init(_ decoder: JSONDecoder, onTape: Bool) {
    self.decoder = decoder
    rules = TapeRules(decoder)
    isOnTape = onTape
    if case .useDefaultKeys = decoder.keyDecodingStrategy { convertsKeys = false } else { convertsKeys = true }
  }

  /// Reads a typed value from a JSON text in UTF-8, UTF-16 or UTF-32.
  ///
  /// Errand's own parser reads a `JSONValue`, a ``JSONReadable`` type, and an array, dictionary or optional of such
  /// types, unless a `JSONDecoder` allows JSON5 or objects without braces, or the text has 256 MiB or more. For all
  /// other types, ``fast`` validates the whole text, whereas `JSONDecoder` validates little more than the parts that
  /// the type reads.
  ///
  /// If only the last key of the path is missing, an optional type reads as nil.
  /// - Parameters:
  ///   - type: The type to read.
  ///   - data: The text.
  ///   - path: The path to the value, with the keys as they are written in the text; nil for the whole document.
  /// - Throws: ``JSONDecodingError``.
  public func decode<T: Decodable>(
    _ type: T.Type, from data: Data, at path: JSONPath? = nil
  ) throws(JSONDecodingError) -> T {
    try decode(type, from: data, parsed: nil, at: path)
  }

  /// Reads a typed value from a text that may have been parsed already.
  /// - Throws: ``JSONDecodingError``.
  package func decode<T: Decodable>(
    _ type: T.Type, from data: Data, parsed: ParsedJSON?, at path: JSONPath? = nil
  ) throws(JSONDecodingError) -> T {
    let path = path ?? JSONPath.root
    if let tape = tape(for: type, in: data), let parsed = try ParsedJSON.unlessTooLarge(data, or: parsed) {
      if type == JSONValue.self { return JSONSameType.cast(try anyValue(in: parsed, at: path, by: tape), to: type) }
      guard let index = parsed.document.index(at: path) else {
        return try missing(type, at: path, from: data, parsed)
      }
      do {
        return try TapeSource(parsed.document, rules: tape).value(type, at: index)
      } catch {
        throw JSONDiagnosis(of: data, by: self).errorWithHint(for: error, decoding: type, at: path)
      }
    }
    let parsed = convertsKeys && !path.steps.isEmpty ? parsed ?? (try? ParsedJSON(data)) : nil
    // `JSONDecoder` must not read a text without the path, because it compares keys after the conversion. For the path
    // `userName`, it would find the key `user_name`. If it converts no keys, it reports a missing value correctly.
    if let parsed, parsed.document.index(at: path) == nil { return try missing(type, at: path, from: data, parsed) }
    let text = try text(for: type, from: data, parsed: parsed, at: path)
    do {
      if path.steps.isEmpty { return try decoder.decode(type, from: text) }
      let configuration = RoutedValue<T>.DecodingConfiguration(route: route(to: path), type: type)
      return try decoder.decode(RoutedValue<T>.self, from: text, configuration: configuration).value
    } catch {
      throw JSONDiagnosis(of: data, by: self).errorWithHint(for: error, decoding: type, at: path)
    }
  }

  /// The text from which `JSONDecoder` reads a type at a path.
  private func text<T: Decodable>(
    for type: T.Type, from data: Data, parsed: ParsedJSON?, at path: JSONPath
  ) throws(JSONDecodingError) -> Data {
    do throws(JSONError) {
      return try textForFoundation(data, parsed: parsed, at: path)
    } catch .numberOutOfRange(let number) {
      throw JSONDecodingError(.numberOutOfRange(number))
    } catch {
      throw JSONDiagnosis(of: data, by: self).errorWithHint(for: error, decoding: type, at: path)
    }
  }

  /// Handles a text that has no value at the path. Returns nil if the type is optional and only the last key of the
  /// path is missing. In all other cases, the function throws an error.
  private func missing<T: Decodable>(
    _ type: T.Type, at path: JSONPath, from data: Data, _ parsed: ParsedJSON
  ) throws(JSONDecodingError) -> T {
    let root = TapeDecoder(source: TapeSource(parsed.document, rules: .standard), index: 0)
    do {
      return try JSONRoute(steps: path.steps).decode(type, from: root)
    } catch {
      throw JSONDiagnosis(of: data, by: .fast).error(for: error, decoding: type, at: path)
    }
  }

  /// The `JSONValue` at a path, read without `Codable`.
  private func anyValue(
    in parsed: ParsedJSON, at path: JSONPath, by rules: TapeRules
  ) throws(JSONDecodingError) -> JSONValue {
    let value: JSONValue?
    do throws(JSONError) {
      value = try parsed.value(at: path, rules: rules)
    } catch {
      throw JSONDecodingError(error)
    }
    if let value { return value }
    throw JSONDecodingError(missing: path, in: .inText(parsed.document, at: 0))
  }

  /// The text from which `JSONDecoder` reads the value at a path.
  ///
  /// If the decoder converts keys, two keys of the text may get the same name, and `JSONDecoder` finds only the first
  /// one. So the text then has no other members than those on the path. A text that violates RFC 8259 is not changed.
  /// - Parameter parsed: The parsed text; nil if the text has not been parsed.
  /// - Throws: ``JSONError`` if `JSONDecoder` could end the process at the text.
  func textForFoundation(_ data: Data, parsed: ParsedJSON? = nil, at path: JSONPath) throws(JSONError) -> Data {
    let text = try FoundationText.checked(data, allowsJSON5: decoder.allowsJSON5)
    guard convertsKeys, !path.steps.isEmpty, let document = parsed?.document ?? (try? JSONDocument(text)) else {
      return text
    }
    return document.bytes(only: path) ?? text
  }

  /// Repeats a failed decoding and records where it fails.
  func trace<T: Decodable>(_ type: T.Type, from text: Data, at path: JSONPath) -> JSONTrace {
    let trace = JSONTrace()
    if let tape = tape(for: type, in: text), let document = try? JSONDocument(text) {
      guard let index = document.index(at: path) else { return trace }
      let value = TapeDecoder(source: TapeSource(document, rules: tape), index: index)
      _ = try? JSONRoute(steps: [], trace: trace).decode(type, from: value)  // only the trace matters
      return trace
    }
    guard let text = try? textForFoundation(text, at: path) else { return trace }
    var route = route(to: path)
    route.trace = trace
    let configuration = RoutedValue<T>.DecodingConfiguration(route: route, type: type)
    _ = try? decoder.decode(RoutedValue<T>.self, from: text, configuration: configuration)  // only the trace matters
    return trace
  }

  func route(to path: JSONPath) -> JSONRoute {
    guard convertsKeys else { return JSONRoute(steps: path.steps) }
    var coding: [any CodingKey] = []
    let steps = path.steps.map { step -> JSONPath.Step in
      switch step {
      case .key(let key):
        let name = convertedKey(key, below: coding)
        coding.append(AnyKey(name))
        return .key(name)
      case .index(let index):
        coding.append(AnyKey(intValue: index))
        return step
      }
    }
    return JSONRoute(steps: steps)
  }

  /// The key after conversion by the decoder's key strategy.
  /// - Parameter path: The coding path of the object that contains the key, for strategies that depend on this path.
  func convertedKey(_ key: String, below path: [any CodingKey]) -> String {
    guard convertsKeys else { return key }
    if case .custom(let convert) = decoder.keyDecodingStrategy { return convert(path + [AnyKey(key)]).stringValue }
    return FirstKey.name(of: key, by: decoder)
  }
}

/// Converts a value between two generic names of the same type. The compiler cannot know that both names mean one type.
enum JSONSameType {
  /// Returns the value as `type`. The caller or ``JSONKinds`` has checked that `type` is the value's own type.
  @inline(__always) static func cast<Value, Own>(_ value: Value, to type: Own.Type) -> Own {
    unsafeBitCast(value, to: type)
  }

  /// Returns a new value as `type`. The caller guarantees that `type` is the value's own type or has the same memory
  /// layout. The value is moved, not copied.
  @inline(__always) static func move<Value, Own>(to type: Own.Type, _ make: () throws -> Value) rethrows -> Own {
    try withUnsafeTemporaryAllocation(of: Own.self, capacity: 1) { memory in
      let place = UnsafeMutableRawPointer(memory.baseAddress.unsafelyUnwrapped)
      place.bindMemory(to: Value.self, capacity: 1).initialize(to: try make())
      return memory.moveElement(from: 0)
    }
  }
}

extension JSONDecoding {
  /// Errand's own decoder with Foundation's default strategies. It is four to six times as fast as `JSONDecoder` in an
  /// optimised build, and slower than `JSONDecoder` in a debug build.
  ///
  /// The decoder reads any `Decodable` type as `JSONDecoder` does, with the same strategies and errors, except that it
  /// - is as strict as RFC 8259: it validates the whole text, including the parts that the type does not read;
  /// - reports the path of a number that does not fit its type;
  /// - compares keys byte by byte;
  /// - does not convert the keys of a `JSONValue` inside a type.
  public static let fast = JSONDecoding.fast()

  /// Errand's own decoder with Foundation's strategies.
  public static func fast(
    dates: JSONDecoder.DateDecodingStrategy = .deferredToDate,
    keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
    data: JSONDecoder.DataDecodingStrategy = .base64
  ) -> JSONDecoding {
    JSONDecoding(JSONDecoding(dates: dates, keys: keys, data: data).decoder, onTape: true)
  }

  /// Errand's own decoder with the strategies and the `userInfo` of a `JSONDecoder`.
  ///
  /// If `decoder` allows JSON5 or assumes a top-level dictionary, `decoder` itself reads the text, because only
  /// Foundation supports these settings. Allow JSON5 only for texts that you trust: Foundation's JSON5 parser ends the
  /// process at many malformed texts.
  /// - Parameter decoder: The decoder to copy. Do not change it afterwards.
  public static func fast(by decoder: JSONDecoder) -> JSONDecoding { JSONDecoding(decoder, onTape: true) }

  /// Decoding by a `JSONDecoder` of your choice.
  ///
  /// Allow JSON5 only for texts that you trust: Foundation's JSON5 parser ends the process at many malformed texts.
  /// - Parameter decoder: The decoder to use. Do not change it afterwards.
  public static func foundation(_ decoder: JSONDecoder) -> JSONDecoding { JSONDecoding(decoder, onTape: false) }
}

extension ParsedJSON {
  /// The parsed text: `parsed` if it is not nil, otherwise the result of parsing `data`. Nil if the text exceeds the
  /// size limit; Foundation then reads the text.
  static func unlessTooLarge(_ data: Data, or parsed: ParsedJSON?) throws(JSONDecodingError) -> ParsedJSON? {
    if let parsed { return parsed }
    do throws(JSONError) {
      return try ParsedJSON(data)
    } catch .tooLarge {
      return nil
    } catch {
      throw JSONDecodingError(error, excerpt: JSONExcerpt.markup(in: data))
    }
  }
}
