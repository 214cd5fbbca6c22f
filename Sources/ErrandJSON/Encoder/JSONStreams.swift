import ErrandSupport
import Foundation

/// Writes values with a pool of reusable streams. Creating a stream and filling its caches of types and names takes
/// longer than writing a small value.
final class JSONStreams: Sendable {
  private let rules: JSONEncodingRules
  private let idle = Locked<[Idle]>([])

  /// A stream that is not in use.
  private struct Idle: @unchecked Sendable {  // the thread that removes it from the pool is its only user
    let stream: JSONStream
  }

  /// The maximum number of streams in the pool.
  private static let most = 16
  /// The maximum buffer size, in bytes, of a stream that returns to the pool. A larger stream is released.
  private static let mostBytes = 1 << 20

  init(rules: JSONEncodingRules) { self.rules = rules }

  /// The JSON text of a value; nil if only `JSONEncoder` can write the value.
  func text<T: Encodable>(of value: T) throws -> Data? {
    var stream = idle.withLock { $0.popLast() }?.stream ?? JSONStream(rules: rules)
    defer { keep(&stream) }
    do {
      try stream.write(root: value)
      return stream.bytes.data
    } catch let stop as JSONStreamFailure {
      guard let reason = stop.reason else { return nil }
      throw EncodingError.invalidValue(value, EncodingError.Context(codingPath: [], debugDescription: reason))
    }
  }

  /// Returns a stream to the pool. A stream does not return if its buffer is too large, or if a type still holds an
  /// encoder of the stream.
  private func keep(_ stream: inout JSONStream) {
    guard isKnownUniquelyReferenced(&stream), stream.bytes.capacity <= Self.mostBytes else { return }
    let free = Idle(stream: stream)
    idle.withLock { if $0.count < Self.most { $0.append(free) } }
  }
}

extension JSONStreamFailure {
  /// A sentence with the reason why the stream cannot write the value. Nil if `JSONEncoder` can write the value.
  fileprivate var reason: String? {
    switch self {
    case .needsJSONEncoder: nil
    case .misuse(let what): "The type's encode(to:) is wrong: \(what)."
    case .tooDeep(let limit): "Arrays and objects are nested deeper than \(limit) levels."
    case .tooManyLevels: "Values are nested deeper than \(JSONStream.depthLimit) levels."
    }
  }
}

/// The strategies of a `JSONEncoder`, copied when the encoder is configured.
struct JSONEncodingRules: Sendable {
  let dates: JSONEncoder.DateEncodingStrategy
  let data: JSONEncoder.DataEncodingStrategy
  let keys: JSONEncoder.KeyEncodingStrategy
  let floats: JSONEncoder.NonConformingFloatEncodingStrategy
  let userInfo: [CodingUserInfoKey: any Sendable]
  let sortsAll: Bool
  let keepsKeys: Bool

  /// - Parameter sortsAll: Whether the members of all types are sorted, not only those of dictionaries.
  init(of encoder: JSONEncoder, sortsAll: Bool) {
    dates = encoder.dateEncodingStrategy
    data = encoder.dataEncodingStrategy
    keys = encoder.keyEncodingStrategy
    floats = encoder.nonConformingFloatEncodingStrategy
    userInfo = encoder.userInfo
    self.sortsAll = sortsAll
    if case .useDefaultKeys = keys { keepsKeys = true } else { keepsKeys = false }
  }
}
