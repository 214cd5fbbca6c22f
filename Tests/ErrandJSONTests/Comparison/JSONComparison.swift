import ErrandJSON
import Foundation
import Testing

/// Decodes one text with Foundation's decoder and with `.fast`, and expects the same value or the same error.
///
/// There are three comparisons: the results of Foundation's decoder alone; the errors of `JSONDecoding` for both
/// decoders; and both again with the text at a path inside another text.
struct JSONComparison<Value: Decodable, Sight: Equatable> {
  /// The expected result.
  enum Expected { case value, failure, either }

  private let sight: (Value) -> Sight
  private let location: SourceLocation
  private let decoder: JSONDecoder
  private let fast: JSONDecoding

  /// - Parameter sight: The part of a value to compare.
  init(_ configure: (JSONDecoder) -> Void, _ location: SourceLocation, sight: @escaping (Value) -> Sight) {
    self.sight = sight
    self.location = location
    decoder = JSONDecoder()
    configure(decoder)
    fast = JSONDecoding.fast(by: decoder)
  }

  func expect(_ expected: Expected, _ text: String) {
    expect(expected, Data(text.utf8))
    guard (try? JSONValue(parsing: Data(text.utf8))) != nil, !text.hasPrefix("\u{FEFF}") else { return }
    compare(Data("{\"w\":[0,\(text)]}".utf8), at: "w[1]")
  }

  func expect(_ expected: Expected, _ text: Data) {
    let foundation = Result { sight(try decoder.decode(Value.self, from: text)) }
    let shown = "\(Value.self) in \(String(decoding: text.prefix(200), as: UTF8.self))"
    switch (foundation, read(text, by: fast)) {
    case (.success(let value), .success(let own)):
      #expect(expected != .failure && own == value, "\(shown)", sourceLocation: location)
    case (.failure(let error), .failure(let own)):
      let failure = JSONFailure(own.underlying ?? own)
      #expect(
        expected != .value && failure.isSame(as: JSONFailure(error)), "\(shown): \(failure) for \(JSONFailure(error))",
        sourceLocation: location)
    case (let foundation, let own):
      Issue.record("\(shown): \(own), Foundation \(foundation)", sourceLocation: location)
    }
    compare(text)
  }

  /// Compares the results of `JSONDecoding` for both decoders.
  private func compare(_ text: Data, at path: JSONPath? = nil) {
    let shown = "\(Value.self) in \(String(decoding: text.prefix(200), as: UTF8.self))"
    switch (read(text, by: JSONDecoding.foundation(decoder), at: path), read(text, by: fast, at: path)) {
    case (.success(let value), .success(let own)):
      #expect(own == value, "\(shown)", sourceLocation: location)
    case (.failure(let error), .failure(let own)):
      #expect(told(own) == told(error), "\(shown)", sourceLocation: location)
    case (let standard, let own):
      Issue.record("\(shown): \(own), standard \(standard)", sourceLocation: location)
    }
  }

  private func read(
    _ text: Data, by decoding: JSONDecoding, at path: JSONPath? = nil
  ) -> Result<Sight, JSONDecodingError> {
    do throws(JSONDecodingError) {
      return .success(sight(try decoding.decode(Value.self, from: text, at: path)))
    } catch {
      return .failure(error)
    }
  }

  /// The error without its reason if a number does not fit an array of bytes, because Foundation has no message for
  /// that.
  private func told(_ error: JSONDecodingError) -> String {
    let isWordless = error.reason.contains("not valid JSON") || error.reason.contains("does not fit in UInt8")
    return "\(error.kind) at \(error.path)" + (isWordless ? "" : ": \(error.reason)")
  }
}

/// Expects that both decoders read the same value.
func expectSame<Value: Decodable & Equatable>(
  _ type: Value.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
  by configure: (JSONDecoder) -> Void = { _ in }
) {
  JSONComparison<Value, Value>(configure, sourceLocation) { $0 }.expect(.value, text)
}

/// Expects that both decoders read a value with the same part.
func expectSame<Value: Decodable>(
  _ type: Value.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
  by configure: (JSONDecoder) -> Void = { _ in }, seenAs sight: @escaping (Value) -> some Equatable
) {
  JSONComparison(configure, sourceLocation, sight: sight).expect(.value, text)
}

/// Expects that both decoders throw the same error.
func expectSameFailure<Value: Decodable>(
  _ type: Value.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
  by configure: (JSONDecoder) -> Void = { _ in }
) {
  JSONComparison<Value, String>(configure, sourceLocation) { "\($0)" }.expect(.failure, text)
}

/// Expects that both decoders read the same value or throw the same error.
func expectAlike<Value: Decodable & Equatable>(
  _ type: Value.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
  by configure: (JSONDecoder) -> Void = { _ in }
) {
  JSONComparison<Value, Value>(configure, sourceLocation) { $0 }.expect(.either, text)
}

/// Expects the same result for a scalar alone, in arrays, dictionaries and objects, and as an optional.
func expectAlikeEverywhere<Value: Decodable & Equatable>(
  _ type: Value.Type, _ scalar: String, sourceLocation: SourceLocation = #_sourceLocation,
  by configure: (JSONDecoder) -> Void = { _ in }
) {
  expectAlike(Value.self, scalar, sourceLocation: sourceLocation, by: configure)
  expectAlike(Value?.self, scalar, sourceLocation: sourceLocation, by: configure)
  expectAlike([Value].self, "[\(scalar),\(scalar)]", sourceLocation: sourceLocation, by: configure)
  expectAlike([Value?].self, "[null,\(scalar)]", sourceLocation: sourceLocation, by: configure)
  expectAlike([[Value]].self, "[[],[\(scalar)]]", sourceLocation: sourceLocation, by: configure)
  expectAlike([String: Value].self, "{\"a b\":\(scalar)}", sourceLocation: sourceLocation, by: configure)
  expectAlike([String: [Value]].self, "{\"a\":[\(scalar)]}", sourceLocation: sourceLocation, by: configure)
  expectAlike(JSONBox<Value>.self, "{\"x\":[],\"value\":\(scalar)}", sourceLocation: sourceLocation, by: configure)
  expectAlike(JSONBox<Value?>.self, "{\"value\":\(scalar)}", sourceLocation: sourceLocation, by: configure)
  expectAlike(JSONBare<Value>.self, scalar, sourceLocation: sourceLocation, by: configure)
  expectAlike([JSONListed<Value>].self, "[[\(scalar)]]", sourceLocation: sourceLocation, by: configure)
}
