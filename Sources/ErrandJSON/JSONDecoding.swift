public import Foundation

/// How typed values are read from JSON bodies: strategies for dates, keys and data, or a decoder of choice.
///
/// ``fast`` and ``fast(dates:keys:data:)`` read by Errand's own decoder, the initialisers and ``foundation(_:)`` by
/// Foundation's.
///
/// One decoder is made per value and shared by all calls; that is safe from any number of threads, since a
/// `JSONDecoder` that nobody changes keeps nothing between calls.
///
/// ```swift
/// let decoding = JSONDecoding.fast(dates: .iso8601, keys: .convertFromSnakeCase)
/// let user = try decoding.decode(User.self, from: body, at: "data.user")
/// ```
public struct JSONDecoding: Sendable {
  let decoder: JSONDecoder
  /// How values are read from a tape; nil where only Foundation can read them.
  private let rules: TapeRules?
  private let isOnTape: Bool
  private let convertsKeys: Bool

  /// `JSONDecoder` by its defaults: keys as they are written, dates as seconds since 2001, data in Base64.
  public static let standard = JSONDecoding()

  /// Decoding by a `JSONDecoder` with these strategies. ``fast(dates:keys:data:)`` reads by the same ones in a quarter
  /// of the time.
  public init(
    dates: JSONDecoder.DateDecodingStrategy = .deferredToDate,
    keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
    data: JSONDecoder.DataDecodingStrategy = .base64
  ) {
    self.init {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = dates
      decoder.keyDecodingStrategy = keys
      decoder.dataDecodingStrategy = data
      if let key = TapeRules.inUserInfo { decoder.userInfo[key] = TapeRules(valuesOf: decoder) }
      return decoder
    }
  }

  /// How a type is read from a tape; nil where Foundation reads it.
  func tape(for type: (some Decodable).Type) -> TapeRules? { isOnTape || type is any JSONReadable.Type ? rules : nil }

  /// Whether both read with one and the same decoder, and in the same way.
  package func isSame(as other: JSONDecoding) -> Bool {
    decoder === other.decoder && isOnTape == other.isOnTape
  }

  /// Decoding by a decoder of choice. The closure is called once, here; the decoder must not be changed afterwards.
  public init(makeDecoder: () -> JSONDecoder) { self.init(makeDecoder(), onTape: false) }

  init(_ decoder: JSONDecoder, onTape: Bool) {
    self.decoder = decoder
    rules = TapeRules(decoder)
    isOnTape = onTape
    if case .useDefaultKeys = decoder.keyDecodingStrategy { convertsKeys = false } else { convertsKeys = true }
  }

  /// Reads a typed value from a JSON text in UTF-8, UTF-16 or UTF-32.
  ///
  /// A `JSONValue` and a ``JSONReadable`` type, or a list, dictionary or optional of them, are read by Errand's own
  /// parser always. For other types ``fast`` judges the whole text, and `JSONDecoder` hardly more of it than the type
  /// reads.
  /// - Parameters:
  ///   - type: The type to read.
  ///   - data: The text.
  ///   - path: Where in the document the value lies, in the keys of the text itself, before any key strategy; nil for
  ///     the whole document. Where the last step leads to a missing key, an optional type reads as nil.
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
    if let tape = tape(for: type), let parsed = try ParsedJSON.unlessTooLarge(data, or: parsed) {
      if type == JSONValue.self { return JSONSameType.cast(try anyValue(in: parsed, at: path, by: tape), to: type) }
      if let index = parsed.document.index(at: path) {
        return try value(of: type, from: data, parsed, at: index, path, by: tape)
      }
    }
    if let parsed = textLacking(path, in: data, or: parsed) {
      return try missing(type, at: path, from: data, parsed)
    }
    do {
      let text = try JSONText.utf8(of: data)
      try Self.refuseOpenEnd(of: text)
      if path.steps.isEmpty { return try decoder.decode(type, from: text) }
      let goal = Located<T>.Goal(route: route(to: path), type: type)
      return try decoder.decode(Located<T>.self, from: text, configuration: goal).value
    } catch {
      throw JSONDiagnosis(of: data, by: self).error(for: error, decoding: type, at: path)
    }
  }

  /// The text, where a path leads nowhere in its own keys; nil where it leads somewhere, or where a `JSONDecoder` can
  /// tell. One that turns keys finds those that it made, too.
  private func textLacking(_ path: JSONPath, in data: Data, or parsed: ParsedJSON?) -> ParsedJSON? {
    guard convertsKeys, !path.steps.isEmpty, let parsed = parsed ?? (try? ParsedJSON(data)) else { return nil }
    return parsed.document.index(at: path) == nil ? parsed : nil
  }

  /// What a type is where nothing lies: nil for an optional one behind the last key, else an error.
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

  /// A `JSONValue`, read without `Codable`.
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

  /// Foundation on Linux traps where a text ends with the bracket that is one too deep; no text ends with one.
  private static func refuseOpenEnd(of text: Data) throws(JSONError) {
    guard text.last != UInt8(ascii: "["), text.last != UInt8(ascii: "{") else {
      throw JSONError.notJSON(reason: "it ends where a value is due")
    }
  }

  /// Runs a failed decoding once more and notes where it fails.
  func trace<T: Decodable>(_ type: T.Type, from text: Data, at path: JSONPath) -> JSONTrace {
    let trace = JSONTrace()
    var route = route(to: path)
    route.trace = trace
    if let tape = tape(for: type), let document = try? JSONDocument(text) {
      let root = TapeDecoder(source: TapeSource(document, rules: tape), index: 0)
      _ = try? route.decode(type, from: root)  // the trace has what is of interest
      return trace
    }
    let goal = Located<T>.Goal(route: route, type: type)
    _ = try? decoder.decode(Located<T>.self, from: text, configuration: goal)  // the trace has what is of interest
    return trace
  }

  func route(to path: JSONPath) -> JSONRoute {
    JSONRoute(
      steps: path.steps.map { step in
        if case .key(let key) = step { .key(convertedKey(key)) } else { step }
      })
  }

  /// The key as the decoder's key strategy turns it.
  func convertedKey(_ key: String) -> String { convertsKeys ? FirstKey.name(of: key, by: decoder) : key }
}

/// Reads a value as the type that it has.
enum JSONSameType {
  /// The value as a type that is its own; the caller has compared them, or has it from ``JSONKinds``, which does.
  @inline(__always) static func cast<Value, Own>(_ value: Value, to type: Own.Type) -> Own {
    unsafeBitCast(value, to: type)
  }

  /// A new value as a type that is its own, or the same in memory, which the caller knows. It is moved, not copied.
  @inline(__always) static func move<Value, Own>(to type: Own.Type, _ make: () throws -> Value) rethrows -> Own {
    try withUnsafeTemporaryAllocation(of: Own.self, capacity: 1) { room in
      let place = UnsafeMutableRawPointer(room.baseAddress.unsafelyUnwrapped)
      place.bindMemory(to: Value.self, capacity: 1).initialize(to: try make())
      return room.moveElement(from: 0)
    }
  }
}

extension JSONDecoding {
  /// Errand's own decoder, by Foundation's defaults: in an optimised build four to six times as fast as `JSONDecoder`,
  /// in a debug build slower than it.
  ///
  /// It reads any `Decodable` type as `JSONDecoder` does, with the same strategies and errors. It differs where RFC
  /// 8259 is stricter (the whole text is judged, also what the type does not read), names the place of a number that
  /// does not fit, compares keys byte by byte, and leaves the keys of a `JSONValue` inside a type as they are written.
  public static let fast = JSONDecoding.fast()

  /// Errand's own decoder, by Foundation's strategies.
  public static func fast(
    dates: JSONDecoder.DateDecodingStrategy = .deferredToDate,
    keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
    data: JSONDecoder.DataDecodingStrategy = .base64
  ) -> JSONDecoding {
    JSONDecoding(JSONDecoding(dates: dates, keys: keys, data: data).decoder, onTape: true)
  }

  /// Errand's own decoder, set as a `JSONDecoder` is: its strategies and its `userInfo` are taken over.
  ///
  /// What only Foundation can do (JSON5, a text that is an object without braces) is left to it.
  /// - Parameter decoder: Must not be changed afterwards.
  public static func fast(by decoder: JSONDecoder) -> JSONDecoding { JSONDecoding(decoder, onTape: true) }

  /// Decoding by a `JSONDecoder` of choice.
  /// - Parameter decoder: Must not be changed afterwards.
  public static func foundation(_ decoder: JSONDecoder) -> JSONDecoding { JSONDecoding(decoder, onTape: false) }

  /// A value read from a tape.
  func value<T: Decodable>(
    of type: T.Type, from data: Data, _ parsed: ParsedJSON, at index: Int, _ path: JSONPath, by rules: TapeRules
  ) throws(JSONDecodingError) -> T {
    do {
      return try TapeSource(parsed.document, rules: rules).value(type, at: index)
    } catch {
      throw JSONDiagnosis(of: data, by: self).error(for: error, decoding: type, at: path)
    }
  }
}

extension ParsedJSON {
  /// A text, parsed unless it was before; nil for one beyond the limit, which is left to Foundation.
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
