@testable import ErrandJSON
import Foundation
import Testing

/// A value for both encoders to write, and the strategies to use.
struct EncodingSample: CustomTestStringConvertible, Sendable {
  let name: String
  let value: any Encodable & Sendable
  /// Whether only `JSONEncoder` can write it.
  var isHandedOver = false
  var prepare: @Sendable (JSONEncoder) -> Void = { _ in }

  init(
    _ name: String, _ value: any Encodable & Sendable, isHandedOver: Bool = false,
    prepare: @escaping @Sendable (JSONEncoder) -> Void = { _ in }
  ) {
    (self.name, self.value, self.isHandedOver, self.prepare) = (name, value, isHandedOver, prepare)
  }

  var testDescription: String { name }

  func encoder(sortedKeys: Bool) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = sortedKeys ? [.sortedKeys, .withoutEscapingSlashes] : [.withoutEscapingSlashes]
    prepare(encoder)
    return encoder
  }
}

/// The result of an encoding.
enum EncodingOutcome: Equatable {
  case text(Data)
  case refused(path: [String], reason: String)
  case failed(String)

  init(_ encode: () throws -> Data) {
    do {
      self = .text(try encode())
    } catch let error as JSONEncodingError {
      self.init(error.underlying)
    } catch {
      self.init(error)
    }
  }

  private init(_ error: any Error) {
    if case .invalidValue(_, let context)? = error as? EncodingError {
      let path = context.codingPath.map { "\($0.stringValue)/\($0.intValue.map(String.init) ?? "-")" }
      self = .refused(path: path, reason: context.debugDescription)
    } else {
      self = .failed("\(error)")
    }
  }

  /// The value that was written.
  var value: JSONValue? {
    guard case .text(let text) = self else { return nil }
    return try? JSONValue(parsing: Data("[".utf8) + text + Data("]".utf8))[0]
  }

  var text: String? {
    guard case .text(let text) = self else { return nil }
    return String(decoding: text, as: UTF8.self)
  }
}
