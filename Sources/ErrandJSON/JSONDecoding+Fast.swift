public import Foundation

extension JSONDecoding {
  /// Errand's own decoder, by Foundation's defaults: in an optimised build four to six times as fast as `JSONDecoder`,
  /// in a debug build slower than it.
  ///
  /// It reads any `Decodable` type as `JSONDecoder` does, with the same strategies and errors. It differs where RFC 8259
  /// is stricter (the whole text is judged, also what the type does not read), names the place of a number that does not
  /// fit, compares keys byte by byte, and leaves the keys of a `JSONValue` inside a type as they are written.
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
